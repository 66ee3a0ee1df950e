//! Files in memory: items are used in place, and the output is the same at every length.

use crate::common::{compiled, has_compiler};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use thalweg_codegen::{Cache, Config, Level, Native, Threads, build};
use thalweg_lang::Compiled;
use thalweg_lang::files::{Files, Layout, Sink, Source};
use thalweg_lang::interpret::{Options, Outcome, Stop, Surroundings, interpret};
use thalweg_lang::value::Value;

/// Files of floats, each in memory that begins `off` bytes after a word boundary.
struct Shelf {
    inputs: BTreeMap<String, Vec<u8>>,
    off: usize,
    written: Arc<Mutex<BTreeMap<String, Written>>>,
    lends_room: bool,
}

/// Output: all bytes, how many were written in place, and whether it is complete.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Written {
    bytes: Vec<u8>,
    in_room: usize,
    complete: bool,
}

impl Shelf {
    fn new(bytes: usize, off: usize) -> Shelf {
        let byte = |at: usize, seed: usize| match at % 4 {
            3 => 0x3d + (at / 4 * seed % 7) as u8,
            _ => (at * seed % 251) as u8,
        };
        let file = |seed| vec![0; off].into_iter().chain((0..bytes).map(|at| byte(at, seed))).collect();
        let inputs = [("in", 89), ("in2", 41)].map(|(name, seed)| (name.to_owned(), file(seed)));
        Shelf { inputs: inputs.into(), off, written: Arc::default(), lends_room: true }
    }
}

impl Files for Shelf {
    fn source(&mut self, name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(Lender { bytes: self.inputs[name].clone(), off: self.off, at: self.off }))
    }

    fn sink(&mut self, name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        let (name, all, lends) = (name.to_owned(), self.written.clone(), self.lends_room);
        Ok(Box::new(Taker { written: Written::default(), room: Vec::new(), lends, name, all }))
    }
}

struct Lender {
    bytes: Vec<u8>,
    off: usize,
    at: usize,
}

impl Source for Lender {
    fn next(&mut self) -> io::Result<Option<Value>> {
        match self.bytes[self.at..] {
            [] => Ok(None),
            [a, b, c, d, ..] => {
                self.at += 4;
                Ok(Some(Value::Float(f32::from_ne_bytes([a, b, c, d]))))
            }
            _ => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends in the middle of an item")),
        }
    }

    fn memory(&self) -> Option<&[u8]> {
        Some(&self.bytes[self.off..])
    }

    fn rewind(&mut self) -> io::Result<bool> {
        self.at = self.off;
        Ok(true)
    }
}

struct Taker {
    written: Written,
    room: Vec<u8>,
    lends: bool,
    name: String,
    all: Arc<Mutex<BTreeMap<String, Written>>>,
}

impl Sink for Taker {
    fn push(&mut self, item: &Value) -> io::Result<()> {
        let Value::Float(item) = item else { return Err(io::ErrorKind::Unsupported.into()) };
        self.written.bytes.extend(item.to_ne_bytes());
        Ok(())
    }

    fn room(&mut self, bytes: usize) -> Option<&mut [u8]> {
        if self.room.len() < bytes {
            self.room.resize(bytes, 0xff);
        }
        self.lends.then_some(&mut self.room[..])
    }

    fn filled(&mut self, bytes: usize) -> io::Result<()> {
        self.written.bytes.extend(&self.room[..bytes]);
        self.room.clear();
        self.written.in_room += bytes;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.written.complete = true;
        let Taker { name, written, all, .. } = *self;
        all.lock().unwrap().insert(name, written);
        Ok(())
    }
}

type Seen = (Result<Outcome, Stop>, BTreeMap<String, Written>);

fn see(shelf: &mut Shelf, run: impl FnOnce(Surroundings<'_>) -> Result<Outcome, Stop>) -> Seen {
    let end = run(Surroundings {
        files: shelf,
        out: Box::new(io::sink()),
        interrupted: Box::new(|| false),
        progress: &mut |_| {},
    });
    (end, std::mem::take(&mut *shelf.written.lock().unwrap()))
}

/// Runs a program both ways; returns the number of bytes written in place.
fn agree(
    compiled: &Arc<Compiled>,
    native: &Native,
    shelf: &mut Shelf,
    options: Options,
    what: &str,
) -> usize {
    let meant = see(shelf, |around| interpret(compiled, options, around));
    let (end, mut written) = see(shelf, |around| native.run(options, around));
    let in_room = written.values_mut().map(|written| std::mem::take(&mut written.in_room)).sum();
    assert_eq!(meant.0, end, "{what}");
    assert!(meant.1 == written, "{what}");
    for threads in [Threads::new(2), Threads::new(3).batch(37)] {
        let (end, mut written) = see(shelf, |around| native.run_on(&threads, options, around));
        written.values_mut().for_each(|written| written.in_room = 0);
        assert_eq!(meant.0, end, "{what}, {threads:?}");
        assert!(meant.1 == written, "{what}, {threads:?}");
    }
    in_room
}

fn native(compiled: &Arc<Compiled>) -> Native {
    build(compiled, &Config { level: Level::Vectors, cache: Cache::None, compiler: None }).unwrap()
}

fn program(middle: &str) -> String {
    format!(
        "void->void pipeline Main {{ add FileReader<float>(\"in\"); {middle} add FileWriter<float>(\"out\"); }}
         float->float filter Twice() {{ work pop 1 push 1 {{ push(2 * pop()); }} }}
         float->float filter Sum(int pops, int peeks) {{ work pop pops push 1 peek peeks {{
            float s = 0; for (int i = 0; i < peeks; i++) s += peek(i);
            for (int i = 0; i < pops; i++) pop(); push(s); }} }}"
    )
}

/// Middles, and whether their output is written in the file's memory.
const MIDDLES: [(&str, bool); 9] = [
    ("add Twice();", true),
    ("add Sum(3, 50);", true),
    // In lanes, several steady states at once.
    ("add splitjoin { split roundrobin(2); add Sum(2, 2); add Twice(); add Twice(); join roundrobin(1, 2, 2); };
        add Sum(5, 5);", true),
    // Nothing between the two files.
    ("", false),
    ("add splitjoin { split duplicate; add Twice(); add Sum(1, 9); join roundrobin; }; add Sum(2, 5);", true),
    // Items remain in front of the writer.
    ("add float->float filter { prework push 3 { push(1); push(2); push(3); } work pop 1 push 1 { push(pop()); } };
        add float->float filter { float last; work pop 1 push 1 { push(last); last = pop(); } };", true),
    // At first the items before the reader's are not in its file.
    ("add float->float filter { prework push 5 { for (int i = 0; i < 5; i++) push(i); } work pop 1 push 1 { push(pop()); } };
        add Sum(3, 50);", true),
    // Both files are one buffer.
    ("add float->float filter { prework pop 2 push 4 { pop(); pop(); for (int i = 0; i < 4; i++) push(i); }
        work pop 2 push 2 { push(pop()); push(pop()); } };", false),
    ("add splitjoin { split duplicate; add Twice(); add pipeline { add Twice(); add FileWriter<float>(\"other\"); };
        join roundrobin(1, 0); };", true),
];

#[test]
fn items_are_used_in_place() {
    if !has_compiler("items_are_used_in_place") {
        return;
    }
    for (middle, in_memory) in MIDDLES {
        let compiled = compiled(&program(middle));
        let native = native(&compiled);
        let lengths = (0..240).chain([4000, 20_000, 20_001, 20_017, 66_000]);
        for length in lengths {
            let what = format!("{middle}, {length} items");
            let mut shelf = Shelf::new(4 * length, 0);
            let in_room = agree(&compiled, &native, &mut shelf, Options::default(), &what);
            assert_eq!(in_room > 0, in_memory && in_room > 0, "{what}");
            assert!(length < 20_000 || (in_room > 0) == in_memory, "{what}");
        }
    }
}

#[test]
fn files_that_cannot_be_lent_are_copied() {
    if !has_compiler("files_that_cannot_be_lent_are_copied") {
        return;
    }
    for (middle, _) in MIDDLES {
        let compiled = compiled(&program(middle));
        let native = native(&compiled);
        for bytes in [0, 4, 399, 40_000, 80_001, 80_066] {
            for (off, lends_room) in [(1, true), (0, false), (3, false)] {
                let mut shelf = Shelf { lends_room, ..Shelf::new(bytes, off) };
                let what = format!("{middle}, {bytes} bytes from {off}");
                let in_room = agree(&compiled, &native, &mut shelf, Options::default(), &what);
                assert!(lends_room || in_room == 0);
            }
            let options = Options { iterations: Some(9001), repeat_input: true };
            agree(&compiled, &native, &mut Shelf::new(bytes, 0), options, middle);
        }
    }
}

#[test]
fn each_nan_has_the_same_bits() {
    if !has_compiler("each_nan_has_the_same_bits") {
        return;
    }
    const NANS: [u32; 6] = [0x7fc0_0000, 0xffc0_0000, 0x7f80_0001, 0xff80_0001, 0x7fff_ffff, 0xffff_ffff];
    let items = NANS.iter().flat_map(|nan| [*nan, 1f32.to_bits()]);
    let file: Vec<u8> = items.cycle().take(20_000).flat_map(u32::to_ne_bytes).collect();
    for middle in ["", "add Twice();", "add Sum(3, 50);"] {
        let compiled = compiled(&program(middle));
        let native = native(&compiled);
        for lends_room in [true, false] {
            let mut shelf = Shelf { lends_room, ..Shelf::new(0, 0) };
            shelf.inputs.insert("in".to_owned(), file.clone());
            agree(&compiled, &native, &mut shelf, Options::default(), middle);
            let (_, written) = see(&mut shelf, |around| native.run(Options::default(), around));
            let floats = written["out"].bytes.as_chunks().0.iter().map(|word| f32::from_ne_bytes(*word));
            let nans: Vec<u32> = floats.filter(|x| x.is_nan()).map(f32::to_bits).collect();
            assert!(!nans.is_empty() && nans.iter().all(|nan| *nan == f32::NAN.to_bits()), "{middle}");
        }
    }
}

#[test]
fn two_files_are_lent_at_once() {
    if !has_compiler("two_files_are_lent_at_once") {
        return;
    }
    // Buffers of their own, and one that both fill.
    for middle in ["add Pairs();", ""] {
        let compiled = compiled(&format!(
            "void->void pipeline Main {{
                add splitjoin {{ split roundrobin(0);
                    add pipeline {{ add FileReader<float>(\"in\"); {middle} }};
                    add pipeline {{ add FileReader<float>(\"in2\"); {middle} }};
                    join roundrobin(1, 2); }};
                add FileWriter<float>(\"out\"); }}
             float->float filter Pairs() {{ work pop 1 push 1 peek 2 {{ push(peek(0) - peek(1)); pop(); }} }}"
        ));
        let native = native(&compiled);
        for length in (0..100).chain([30_000, 30_001]) {
            let mut shelf = Shelf::new(4 * length, 0);
            agree(&compiled, &native, &mut shelf, Options::default(), &format!("{length} items"));
        }
    }
}

/// Items for batches of several lengths, ever shorter towards the end.
const MANY: usize = 1_200_000;

#[test]
fn batches_of_all_lengths_agree() {
    if !has_compiler("batches_of_all_lengths_agree") {
        return;
    }
    for middle in [
        "add Twice();",
        "add Sum(1, 9); add Sum(2, 500);",
        "add Sum(1, 9); add Fails(700000); add Fails(90000);",
    ] {
        let compiled = compiled(&format!(
            "{} float->float filter Fails(int at) {{
                work pop 1 push 1 {{ int[2] a; a[iter() == at ? 5 : 1] = 2; push(pop() + a[1]); }} }}",
            program(middle)
        ));
        let (native, mut shelf) = (native(&compiled), Shelf::new(4 * MANY, 0));
        let mut run = |threads| see(&mut shelf, |around| native.run_on(&threads, Options::default(), around));
        let meant = run(Threads::new(1));
        assert_eq!(meant.0.is_err(), middle.contains("Fails"), "{middle}");
        for threads in [2, 3, 8] {
            assert!(meant == run(Threads::new(threads)), "{middle}, {threads} threads");
        }
    }
}

#[test]
fn an_interrupted_run_leaves_what_was_done_before() {
    if !has_compiler("an_interrupted_run_leaves_what_was_done_before") {
        return;
    }
    let compiled = compiled(&program("add Sum(1, 99);"));
    let (native, mut shelf) = (native(&compiled), Shelf::new(4 * MANY, 0));
    let meant = see(&mut shelf, |around| native.run(Options::default(), around)).1["out"].bytes.clone();
    // The interruption may be noticed after all is done; but not each time.
    let mut some_left = |threads| {
        let begun = Arc::new(AtomicBool::new(false));
        let seen = begun.clone();
        let around = Surroundings {
            files: &mut shelf,
            out: Box::new(io::sink()),
            interrupted: Box::new(move || seen.load(Ordering::Relaxed)),
            progress: &mut |_| begun.store(true, Ordering::Relaxed),
        };
        let end = native.run_on(&Threads::new(threads), Options::default(), around);
        assert_eq!(end, Err(Stop::Interrupted));
        let done = &shelf.written.lock().unwrap()["out"].bytes;
        assert!(!done.is_empty() && meant.starts_with(done), "{threads} threads: {} bytes", done.len());
        done.len() < meant.len()
    };
    for threads in [2, 3] {
        assert!((0..50).any(|_| some_left(threads)), "{threads} threads");
    }
}
