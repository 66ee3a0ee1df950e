//! The results of a kernel's function, and their meaning for its node.
//!
//! The engine converts the result of each firing: by [`IntoFlow`] for sequential kernels, which may end their node; by
//! [`IntoResult`] for parallel ones, which can only fail.

/// What a node does after a firing.
#[derive(Debug)]
pub enum Flow {
    /// The node fires again when its inputs and outputs allow it.
    More,
    /// The node ends, and discards the items that its inputs still hold.
    End,
    /// The node, and with it the run, has failed.
    Fail(Box<dyn std::error::Error + Send + Sync>),
}

/// What a kernel may return: nothing, a [`std::ops::ControlFlow`] that ends the node, or a
/// `Result` of either.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "a kernel returns `()`, `ControlFlow<()>` (`Break` ends the node), or a `Result` of either; \
            results leave through its outputs: `out.push(..)`"
)]
pub trait IntoFlow {
    /// Converts the result of one firing.
    fn into_flow(self) -> Flow;
}

/// What a parallel kernel may return: nothing, or a `Result<(), E>`. It cannot end its node: its
/// firings overlap, so none of them is the last.
#[diagnostic::on_unimplemented(
    message = "a parallel kernel cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "a parallel kernel returns `()` or `Result<(), E>`; results leave through its outputs: `out.push(..)`",
    note = "only a sequential kernel can end its node (`ControlFlow`): firings of a parallel one overlap"
)]
pub trait IntoResult {
    /// The error that fails the node, if there is one.
    ///
    /// # Errors
    /// The kernel's own error. The run fails with it.
    fn into_result(self) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

impl IntoResult for () {
    #[inline(always)]
    fn into_result(self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(())
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> IntoResult for Result<(), E> {
    #[inline(always)]
    fn into_result(self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.map_err(E::into)
    }
}

impl IntoFlow for () {
    #[inline(always)]
    fn into_flow(self) -> Flow {
        Flow::More
    }
}

impl IntoFlow for Flow {
    #[inline(always)]
    fn into_flow(self) -> Flow {
        self
    }
}

impl IntoFlow for std::ops::ControlFlow<()> {
    #[inline(always)]
    fn into_flow(self) -> Flow {
        if self.is_break() { Flow::End } else { Flow::More }
    }
}

impl<F: IntoFlow, E: Into<Box<dyn std::error::Error + Send + Sync>>> IntoFlow for Result<F, E> {
    #[inline(always)]
    fn into_flow(self) -> Flow {
        match self {
            Ok(flow) => flow.into_flow(),
            Err(error) => Flow::Fail(error.into()),
        }
    }
}
