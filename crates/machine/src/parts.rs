//! The parts of a machine and their ids.

use thalweg_graph::data;

macro_rules! id {
    ($name:ident, $part:literal, $list:literal) => {
        #[doc = concat!("The dense id of a ", $part, ": its index in [`Machine::", $list, "`].")]
        #[doc = ""]
        #[doc = concat!("[`Machine::", $list, "`]: crate::Machine::", $list)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(UnitId, "processing unit", "units");
id!(CoreId, "core", "cores");
id!(CacheId, "cache", "caches");
id!(DomainId, "memory domain", "domains");

data! {
    /// A processing unit, which executes one thread at a time: a core, or one of its hardware threads.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Unit {
        /// The id. Units of a core have consecutive ids, and so have those of a domain.
        copy id: UnitId;
        /// The number by which the operating system knows the unit.
        copy cpu: u32;
        /// The core that the unit belongs to.
        copy core: CoreId;
        /// The memory domain that the unit belongs to.
        copy domain: DomainId;
    }
}

data! {
    /// A core: one processing unit, or several that share its execution units (SMT siblings).
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Core {
        /// The units, at least one, in the order of their ids.
        view units: Vec<UnitId> => &[UnitId];
        /// The memory domain that the core belongs to.
        copy domain: DomainId;
        /// The speed relative to the fastest core of the machine, in 1/1024. 1024 where the system does not report it.
        copy capacity: u16;
    }
}

data! {
    /// A cache for data. Caches for instructions alone are left out.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Cache {
        /// The level, from 1 (the nearest) to 8.
        copy level: u8;
        /// The size in bytes, if it is known.
        copy bytes: Option<u64>;
        /// The size of a line in bytes, if it is known.
        copy line: Option<u32>;
        /// The units that share the cache, at least one, in the order of their ids.
        view units: Vec<UnitId> => &[UnitId];
    }
}

data! {
    /// A memory domain (NUMA node): memory, and the units to which it is the nearest.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Domain {
        /// The number by which the operating system knows the domain.
        copy node: u32;
        /// The memory in bytes, if it is known.
        copy memory: Option<u64>;
        /// The units, in the order of their ids. None in a domain that has only memory.
        view units: Vec<UnitId> => &[UnitId];
    }
}

data! {
    /// What the process may use of the machine.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Limits {
        /// The units that the process may use (the affinity mask), at least one, in the order of their ids. `None`: all.
        option allowed: Option<Vec<UnitId>> => Option<&[UnitId]>;
        /// The processor time that the process may use, in thousandths of a core (the quota of its control groups).
        /// `None`: no limit.
        copy millicores: Option<u64>;
        /// The memory that the process may use, in bytes (the limit of its control groups). `None`: no limit.
        copy memory: Option<u64>;
    }
}
