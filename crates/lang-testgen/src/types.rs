//! Types of generated programs, and constants.

use super::choices::Choices;

/// A type with values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ty {
    /// `int`
    Int,
    /// `float`
    Float,
    /// `boolean`
    Boolean,
    /// `bit`
    Bit,
    /// `complex`
    Complex,
    /// `float2`, `float3` or `float4`.
    Vector(u32),
    /// A structure of the program, by index.
    Struct(usize),
    /// An array.
    Array(Box<Ty>, u32),
}

/// A structure's fields.
pub(super) type Fields = Vec<(String, Ty)>;

impl Ty {
    pub(super) fn array(of: Ty, length: u32) -> Ty {
        Ty::Array(Box::new(of), length)
    }

    pub(super) fn is_scalar(&self) -> bool {
        !matches!(self, Ty::Struct(_) | Ty::Array(..))
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Ty::Int | Ty::Float)
    }

    /// The type in StreamIt syntax; lengths from the outermost to the innermost.
    pub fn text(&self) -> String {
        let (mut inner, mut lengths) = (self, String::new());
        while let Ty::Array(element, length) = inner {
            lengths += &format!("[{length}]");
            inner = element;
        }
        let name = match inner {
            Ty::Int => "int".to_owned(),
            Ty::Float => "float".to_owned(),
            Ty::Boolean => "boolean".to_owned(),
            Ty::Bit => "bit".to_owned(),
            Ty::Complex => "complex".to_owned(),
            Ty::Vector(count) => format!("float{count}"),
            Ty::Struct(number) => format!("Struct{number}"),
            Ty::Array(..) => unreachable!("array types were stripped above"),
        };
        name + &lengths
    }
}

/// A type, or `void`.
pub(super) fn type_text(ty: Option<&Ty>) -> String {
    ty.map_or("void".to_owned(), Ty::text)
}

/// A type without parts of other types, weighted towards numbers.
pub(super) fn scalar(choices: &mut Choices) -> Ty {
    match choices.weighted(&[8, 6, 2, 2, 2, 1]) {
        0 => Ty::Int,
        1 => Ty::Float,
        2 => Ty::Boolean,
        3 => Ty::Bit,
        4 => Ty::Complex,
        _ => Ty::Vector(choices.within(2, 4)),
    }
}

/// Any type, including the `structs` structures.
pub(super) fn any(choices: &mut Choices, structs: usize) -> Ty {
    match choices.weighted(&[14, 2, 2, 1]) {
        1 => Ty::array(scalar(choices), choices.within(1, 5)),
        2 if structs > 0 => Ty::Struct(choices.below(structs as u32) as usize),
        3 => Ty::array(Ty::array(scalar(choices), choices.within(1, 3)), choices.within(1, 3)),
        _ => scalar(choices),
    }
}

/// The structures of a program; a structure may contain preceding ones.
pub(super) fn structs(choices: &mut Choices) -> Vec<Fields> {
    let mut all: Vec<Fields> = Vec::new();
    for _ in 0..choices.weighted(&[3, 2, 1]) {
        let fields = choices.within(1, 3);
        let fields = (0..fields).map(|at| {
            let ty = match choices.weighted(&[5, 2, 1]) {
                1 => Ty::array(scalar(choices), choices.within(1, 4)),
                2 if !all.is_empty() => Ty::Struct(choices.below(all.len() as u32) as usize),
                _ => scalar(choices),
            };
            (format!("part{at}"), ty)
        });
        let fields = fields.collect();
        all.push(fields);
    }
    all
}

/// A constant; a list for an array, `None` for a structure.
pub(super) fn literal(choices: &mut Choices, ty: &Ty) -> Option<String> {
    Some(match ty {
        Ty::Int => integer(choices),
        Ty::Float => float(choices),
        Ty::Boolean => (if choices.chance(50) { "true" } else { "false" }).to_owned(),
        Ty::Bit => choices.below(2).to_string(),
        Ty::Complex => format!("{} + {}i", float(choices), choices.below(5)),
        Ty::Vector(count) => {
            let parts: Vec<String> = (0..*count).map(|_| float(choices)).collect();
            format!("float{count}({})", parts.join(", "))
        }
        Ty::Array(element, length) => {
            let parts: Option<Vec<String>> = (0..*length).map(|_| literal(choices, element)).collect();
            format!("{{{}}}", parts?.join(", "))
        }
        Ty::Struct(_) => return None,
    })
}

/// An unsigned integer literal, mostly small.
fn integer(choices: &mut Choices) -> String {
    match choices.weighted(&[12, 3, 1, 1, 1]) {
        0 => choices.below(10).to_string(),
        1 => choices.below(1000).to_string(),
        2 => format!("0x{:X}", choices.below(u32::MAX)),
        3 => (choices.below(i32::MAX as u32)).to_string(),
        _ => (*choices.pick(&["2147483647", "0x80000000", "65536", "'a'", "0xFFFFFFFF"])).to_owned(),
    }
}

fn float(choices: &mut Choices) -> String {
    match choices.weighted(&[10, 2, 2, 1, 1]) {
        0 => format!("{}.{}", choices.below(5), choices.pick(&["0", "5", "25", "1", "75"])),
        1 => format!("{}e{}", choices.within(1, 9), choices.pick(&["3", "-3", "10", "-10", "+5"])),
        2 => format!("{}.{}f", choices.below(100), choices.below(1000)),
        3 => "pi".to_owned(),
        _ => (*choices.pick(&["1e30", "1e-30", "16777217.0", "0.1", "3.4e38"])).to_owned(),
    }
}

/// The bytes of a file; bits fill whole bytes.
pub(super) fn content(choices: &mut Choices, ty: &Ty, structs: &[Fields], items: u32) -> Vec<u8> {
    if *ty == Ty::Bit {
        return (0..items).map(|_| choices.below(256) as u8).collect();
    }
    let mut bytes = Vec::new();
    (0..items).for_each(|_| item(choices, ty, structs, &mut bytes));
    bytes
}

fn item(choices: &mut Choices, ty: &Ty, structs: &[Fields], bytes: &mut Vec<u8>) {
    let floats = match ty {
        Ty::Int => return bytes.extend((choices.below(2000) as i32 - 1000).to_le_bytes()),
        Ty::Boolean | Ty::Bit => return bytes.push(choices.below(2) as u8),
        Ty::Array(element, length) => {
            return (0..*length).for_each(|_| item(choices, element, structs, bytes));
        }
        Ty::Struct(number) => {
            return structs[*number].iter().for_each(|(_, ty)| item(choices, ty, structs, bytes));
        }
        Ty::Float => 1,
        Ty::Complex => 2,
        Ty::Vector(count) => *count,
    };
    for _ in 0..floats {
        bytes.extend(((choices.below(4000) as f32 - 2000.0) / 16.0).to_le_bytes());
    }
}

/// Whether a file can hold such items; packed bits are allowed only as whole items.
pub(super) fn is_storable(ty: &Ty, structs: &[Fields]) -> bool {
    match ty {
        Ty::Array(element, _) => **element != Ty::Bit && is_storable(element, structs),
        Ty::Struct(number) => {
            structs[*number].iter().all(|(_, ty)| *ty != Ty::Bit && is_storable(ty, structs))
        }
        _ => true,
    }
}
