//! What a writer of this format writes, and no more: serde also takes the array of an object's values for the object, and
//! null for an optional field that is left out.

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A deserializer whose structs are objects and whose optional fields are not null; and the visitor, the seed and the access
/// to parts by which the deserializers of all parts are such ones too. Variants of enums have no parts in this format.
pub(super) struct Strict<T>(pub(super) T);

/// Methods of a deserializer that pass a strict visitor on.
macro_rules! deserialize {
    ($($method:ident($($argument:ident: $type:ty),*),)*) => {
        $(fn $method<V: Visitor<'d>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($argument,)* Strict(visitor))
        })*
    };
}

impl<'d, D: Deserializer<'d>> Deserializer<'d> for Strict<D> {
    type Error = D::Error;

    deserialize! {
        deserialize_any(), deserialize_bool(),
        deserialize_i8(), deserialize_i16(), deserialize_i32(), deserialize_i64(), deserialize_i128(),
        deserialize_u8(), deserialize_u16(), deserialize_u32(), deserialize_u64(), deserialize_u128(),
        deserialize_f32(), deserialize_f64(), deserialize_char(), deserialize_str(), deserialize_string(),
        deserialize_bytes(), deserialize_byte_buf(), deserialize_unit(), deserialize_seq(), deserialize_map(),
        deserialize_identifier(), deserialize_ignored_any(),
        deserialize_unit_struct(name: &'static str),
        deserialize_newtype_struct(name: &'static str),
        deserialize_tuple(length: usize),
        deserialize_tuple_struct(name: &'static str, length: usize),
        deserialize_enum(name: &'static str, variants: &'static [&'static str]),
    }

    fn deserialize_option<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_struct<V: Visitor<'d>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Strict(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// Methods of a visitor that get a value.
macro_rules! visit {
    ($($method:ident($type:ty),)*) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.0.$method(value)
        })*
    };
}

impl<'d, V: Visitor<'d>> Visitor<'d> for Strict<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visit! {
        visit_bool(bool), visit_i64(i64), visit_i128(i128), visit_u64(u64), visit_u128(u128), visit_f64(f64),
        visit_str(&str), visit_borrowed_str(&'d str), visit_string(String),
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_newtype_struct<D: Deserializer<'d>>(self, from: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Strict(from))
    }

    fn visit_seq<A: SeqAccess<'d>>(self, parts: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Strict(parts))
    }

    fn visit_map<A: MapAccess<'d>>(self, parts: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Strict(parts))
    }

    fn visit_enum<A: EnumAccess<'d>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(variant)
    }
}

impl<'d, S: DeserializeSeed<'d>> DeserializeSeed<'d> for Strict<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'d>>(self, from: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(from))
    }
}

impl<'d, A: SeqAccess<'d>> SeqAccess<'d> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'d>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'d, A: MapAccess<'d>> MapAccess<'d> for Strict<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'d>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'d>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Strict(seed))
    }
}
