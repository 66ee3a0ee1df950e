//! Archives of trees that no packer writes, byte by byte as `apps/dedup/FORMAT.md` describes them: small ones of very much.

/// The maximum length of a record's table.
const MAX_TABLE: usize = 8 << 20;

/// An archive of folders, empty files and hard links, whose root is open.
pub struct Forged {
    archive: Vec<u8>,
    /// Of the record that is not complete.
    table: Vec<u8>,
    records: u64,
    entries: u64,
    content: blake3::Hasher,
}

impl Forged {
    pub fn new() -> Forged {
        let mut header = b"\x89THD\r\n\x1a\n".to_vec();
        header.extend(2u16.to_le_bytes()); // version
        header.extend(64u16.to_le_bytes()); // length
        header.extend([1, 1]); // a tree, zstd
        header.extend(3i16.to_le_bytes()); // level
        for size in [128u32, 64, 0, 1 << 20, 1 << 22, 0] {
            header.extend(size.to_le_bytes());
        }
        for bytes in [1u64 << 20, 1 << 10] {
            header.extend(bytes.to_le_bytes()); // window and index
        }
        let content = blake3::Hasher::new();
        let mut forged =
            Forged { archive: sealed(header), table: Vec::new(), records: 0, entries: 0, content };
        forged.folder(b"");
        forged
    }

    /// Adds a folder, and opens it.
    pub fn folder(&mut self, name: &[u8]) {
        self.entry(&with_metadata(2, name, 0, 0));
    }

    /// Closes the folder that was opened last.
    pub fn up(&mut self) {
        self.item(&[5]);
    }

    /// Adds a file that was modified this many seconds after 1970.
    pub fn file(&mut self, name: &[u8], seconds: i64) {
        self.entry(&with_metadata(3, name, seconds, 0));
    }

    /// Adds a file of which further names may follow.
    pub fn shared_file(&mut self, name: &[u8]) {
        self.entry(&with_metadata(3, name, 0, 2));
    }

    /// Adds a further name of the shared file with this number.
    pub fn hard_link(&mut self, name: &[u8], file: u64) {
        let mut item = vec![6];
        put_bytes(&mut item, name);
        put_number(&mut item, file);
        self.entry(&item);
    }

    /// The archive. All folders but the root are closed.
    pub fn finish(mut self) -> Vec<u8> {
        self.up();
        self.record();
        let (offset, mut footer) = (self.archive.len() as u64, vec![b'E']);
        for count in [self.records, 0, 0, 0, 0, self.entries, offset] {
            footer.extend(count.to_le_bytes());
        }
        footer.extend(self.content.finalize().as_bytes());
        self.archive.extend(sealed(footer));
        self.archive.extend(b"THD.end\n");
        self.archive
    }

    fn entry(&mut self, item: &[u8]) {
        self.item(item);
        self.entries += 1;
    }

    fn item(&mut self, item: &[u8]) {
        if self.table.len() + item.len() > MAX_TABLE {
            self.record();
        }
        self.table.extend(item);
        self.content.update(&[1]).update(&(item.len() as u32).to_le_bytes()).update(item);
    }

    /// Ends a record, which has no data.
    fn record(&mut self) {
        let table = std::mem::take(&mut self.table);
        let stored = zstd::bulk::compress(&table, 3).unwrap();
        let (stored, codec) = if stored.len() < table.len() { (&stored, 1) } else { (&table, 0) };
        let mut head = vec![b'R'];
        head.extend(self.records.to_le_bytes());
        for length in [table.len(), stored.len()] {
            head.extend((length as u32).to_le_bytes());
        }
        head.push(codec);
        head.extend([0; 9]); // no data
        self.archive.extend(sealed(head));
        self.archive.extend(stored);
        self.archive.extend(check(stored));
        self.records += 1;
    }
}

fn with_metadata(tag: u8, name: &[u8], seconds: i64, flags: u64) -> Vec<u8> {
    let mut item = vec![tag];
    put_bytes(&mut item, name);
    for number in [0o755, (seconds << 1 ^ seconds >> 63).cast_unsigned(), 0, flags] {
        put_number(&mut item, number);
    }
    item
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend(bytes);
}

/// Appends a number as unsigned LEB128.
fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn check(bytes: &[u8]) -> [u8; 8] {
    *blake3::hash(bytes).as_bytes().first_chunk().unwrap()
}

fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = check(&bytes);
    bytes.extend(sum);
    bytes
}
