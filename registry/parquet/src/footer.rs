//! Depth check of the schema in a Parquet file's footer. The parser of the `parquet` crate recurses once per
//! level of nesting, and a footer of a few kilobytes has room for thousands of levels. Such a footer could
//! overflow the stack.

/// Upper bound on the levels of nesting of a schema. Flat files have one level.
const DEEPEST: usize = 64;

/// Returns whether `footer`, in Thrift's compact protocol, holds a schema within the depth limit.
pub(crate) fn is_shallow(footer: &[u8]) -> bool {
    Thrift(footer).schema_is_shallow().unwrap_or(false)
}

const I32: u8 = 5;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Unread bytes of a footer in Thrift's compact protocol. A read returns `None` if the bytes are malformed.
struct Thrift<'f>(&'f [u8]);

impl Thrift<'_> {
    fn schema_is_shallow(&mut self) -> Option<bool> {
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (2, LIST) => {
                    if !self.elements_are_shallow()? {
                        return Some(false);
                    }
                }
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        Some(true)
    }

    /// Checks the list of schema elements, in which each element precedes its children.
    fn elements_are_shallow(&mut self) -> Option<bool> {
        let (kind, elements) = self.list()?;
        // Number of children still to come, per open group.
        let mut open: Vec<i64> = vec![];
        for _ in 0..elements {
            let mut children = 0;
            let mut id = 0;
            if kind != STRUCT {
                return None;
            }
            while let Some(kind) = self.field(&mut id)? {
                match (id, kind) {
                    (5, I32) => children = self.signed()?,
                    _ => self.skip(kind, DEEPEST)?,
                }
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            open.push(children);
            while open.last().is_some_and(|left| *left <= 0) {
                open.pop();
            }
            if open.len() > DEEPEST {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Reads the type of a struct's next field, and sets `id` to its number. `Some(None)` marks the end of
    /// the struct, and `None` malformed bytes.
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let head = self.byte()?;
        *id = match head >> 4 {
            0 if head == 0 => return Some(None),
            0 => self.signed()?,
            more => id.checked_add(more.into())?,
        };
        Some(Some(head & 0xf))
    }

    /// Reads the type of a list's elements, and their number.
    fn list(&mut self) -> Option<(u8, u64)> {
        let head = self.byte()?;
        let elements = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Some((head & 0xf, elements))
    }

    fn skip(&mut self, kind: u8, deepest: usize) -> Option<()> {
        let deepest = deepest.checked_sub(1)?;
        match kind {
            1 | 2 => {} // the type holds the value of a flag
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => self.0 = self.0.get(8..)?,
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.0 = self.0.get(length..)?;
            }
            LIST | 10 => {
                let (kind, elements) = self.list()?;
                for _ in 0..elements {
                    match kind {
                        1 | 2 => drop(self.byte()?),
                        kind => self.skip(kind, deepest)?,
                    }
                }
            }
            STRUCT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, deepest)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
}
