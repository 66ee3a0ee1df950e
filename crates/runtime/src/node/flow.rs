//! What a kernel's function may return, and what that means for its node.

/// How a node goes on after a firing.
#[derive(Debug)]
pub enum Flow {
    /// Fire again when there is input.
    More,
    /// The node ends here, whatever its inputs still hold.
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
    /// Converts to a [`Flow`].
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
    /// As the kernel says.
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
