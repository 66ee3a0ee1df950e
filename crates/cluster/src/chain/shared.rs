//! Values that process 0 makes and all processes read.

use std::any::type_name;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::batch::message;
use crate::cluster::Cluster;
use crate::piece::encoded_len;

/// A value that process 0 makes and all processes read: see [`Cluster::shared`].
pub struct Shared<T>(Arc<OnceLock<T>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(self.0.clone())
    }
}

impl<T> Shared<T> {
    /// The value, once a run has it.
    pub(super) fn get(&self) -> Option<&T> {
        self.0.get()
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    /// # Panics
    /// No run of its cluster has begun.
    fn deref(&self) -> &T {
        self.0.get().unwrap_or_else(|| panic!("a shared {} is read before its run", type_name::<T>()))
    }
}

impl Cluster {
    /// A value that a function makes in process 0, when the first run begins that this cluster or a clone makes from now on. It
    /// is sent to each other process once, unless that run fails, and functions of chains read it.
    ///
    /// ```
    /// use thalweg_cluster::Cluster;
    ///
    /// let cluster = Cluster::alone();
    /// let names = cluster.shared(|| vec!["zero".to_owned(), "one".to_owned()]);
    /// let named = cluster.from_parts(2, |part| [part]).par_map(move |n| names[n].clone()).collect().run()?;
    /// assert_eq!(named.unwrap(), ["zero", "one"]);
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn shared<T>(&self, make: impl FnOnce() -> T + Send + 'static) -> Shared<T>
    where
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let value: Arc<OnceLock<T>> = Arc::default();
        let slot = Slot { value: value.clone(), make: Mutex::new(Some(Box::new(make))) };
        let held: Weak<OnceLock<T>> = Arc::downgrade(&value);
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.waiting.push(Arc::new(slot));
        shared.held.push(held);
        Shared(value)
    }
}

/// The shared values of a cluster and its clones.
#[derive(Default)]
pub(crate) struct SharedValues {
    /// Those that no run has sent.
    pub waiting: Vec<Arc<dyn AnyShared>>,
    /// All, as long as a chain or the program has them.
    held: Vec<Weak<dyn Held>>,
}

impl SharedValues {
    /// The bytes of the values that exist, by their encoding.
    pub fn bytes(&mut self) -> usize {
        self.held.retain(|value| value.strong_count() > 0);
        self.held.iter().filter_map(Weak::upgrade).map(|value| value.bytes()).sum()
    }
}

/// A value of any type that may exist.
trait Held: Send + Sync {
    /// The bytes of its encoding; 0 without a value.
    fn bytes(&self) -> usize;
}

impl<T: Serialize + Send + Sync> Held for OnceLock<T> {
    fn bytes(&self) -> usize {
        self.get().map_or(0, |value| encoded_len(value).unwrap_or(0))
    }
}

/// A value that process 0 has, and the others get with the shared ones.
pub(super) fn known<T>(value: T) -> (Shared<T>, Arc<dyn AnyShared>)
where
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let place = Arc::new(OnceLock::new());
    let slot = Slot { value: place.clone(), make: Mutex::new(Some(Box::new(|| value))) };
    (Shared(place), Arc::new(slot))
}

struct Slot<T> {
    value: Arc<OnceLock<T>>,
    make: Mutex<Option<Box<dyn FnOnce() -> T + Send>>>,
}

/// A shared value of any type, before and in a run.
pub(crate) trait AnyShared: Send + Sync {
    /// The name of its type.
    fn name(&self) -> &'static str;

    /// Makes the value, unless it exists.
    fn make(&self) -> Result<(), String>;

    /// Its encoding.
    fn encode(&self) -> Result<Vec<u8>, String>;

    /// Takes the value that process 0 has sent.
    fn decode(&self, bytes: &[u8]) -> Result<(), String>;
}

impl<T: Serialize + DeserializeOwned + Send + Sync> AnyShared for Slot<T> {
    fn name(&self) -> &'static str {
        type_name::<T>()
    }

    fn make(&self) -> Result<(), String> {
        let make = self.make.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(make) = make else {
            let made = self.value.get().map(|_| ());
            return made
                .ok_or_else(|| format!("a shared {}: its function has panicked before", type_name::<T>()));
        };
        let made = catch_unwind(AssertUnwindSafe(make));
        let value = made.map_err(|panic| format!("a shared value: panicked: {}", message(&*panic)))?;
        _ = self.value.set(value);
        Ok(())
    }

    fn encode(&self) -> Result<Vec<u8>, String> {
        postcard::to_stdvec(&self.value.get())
            .map_err(|_| format!("a shared {} cannot be encoded", type_name::<T>()))
    }

    fn decode(&self, bytes: &[u8]) -> Result<(), String> {
        match postcard::from_bytes::<Option<T>>(bytes) {
            Ok(Some(value)) => {
                _ = self.value.set(value);
                Ok(())
            }
            _ => Err(format!("a shared {} cannot be decoded", type_name::<T>())),
        }
    }
}
