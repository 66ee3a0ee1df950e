//! A reader of pages that is strict: every tag is closed, and every attribute is quoted.

/// An element: its name, its attributes, and the text directly inside it.
#[derive(Debug, Default)]
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub text: String,
    /// The index of the element around it.
    pub parent: Option<usize>,
}

impl Element {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn number(&self, name: &str) -> f64 {
        self.attribute(name).and_then(|value| value.parse().ok()).unwrap_or(0.0)
    }

    pub fn has_class(&self, class: &str) -> bool {
        self.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
    }
}

/// All elements of a page, in the order of their beginnings. Panics where the page is not well formed.
pub fn parse(page: &str) -> Vec<Element> {
    let mut rest = page.strip_prefix("<!doctype html>").expect("a doctype");
    let (mut all, mut open): (Vec<Element>, Vec<usize>) = (Vec::new(), Vec::new());
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        assert!(!text.contains('>'), "a stray > in {text:?}");
        if let Some(inner) = open.last() {
            all[*inner].text += &unescaped(text);
        }
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().expect("an open element");
            assert_eq!(all[closed].name, name, "closing tags match");
            continue;
        }
        let mut element = element(tag);
        element.parent = open.last().copied();
        let name = element.name.clone();
        all.push(element);
        if tag.ends_with('/') || name == "meta" {
            continue;
        }
        if name == "script" || name == "style" {
            let close = format!("</{name}>");
            let at = rest.find(&close).expect("raw text ends");
            all.last_mut().unwrap().text = rest[..at].to_owned();
            rest = &rest[at + close.len()..];
            continue;
        }
        open.push(all.len() - 1);
    }
    assert!(open.is_empty(), "all elements are closed");
    all
}

fn element(tag: &str) -> Element {
    let tag = tag.trim_end_matches('/');
    let (name, mut rest) = tag.split_once([' ', '\n']).unwrap_or((tag, ""));
    assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "a tag: {tag:?}");
    let mut element = Element { name: name.to_owned(), ..Element::default() };
    while let Some((key, value)) = rest.trim_start().split_once("=\"") {
        let (value, after) = value.split_once('"').expect("a quoted attribute");
        assert!(key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "an attribute: {key:?}");
        element.attributes.push((key.to_owned(), unescaped(value)));
        rest = after;
    }
    assert!(rest.trim().is_empty(), "attributes have values: {tag:?}");
    element
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&amp;", "&")
}
