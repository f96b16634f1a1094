"""scikit-learn's callback API (experimental, from 1.9 on) where it exists; nothing elsewhere."""

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for the mixin of newer versions."""

    def with_callbacks(method):
        return method


class FitCallbacks:
    """Tells the callbacks set on an estimator, if any, of each iteration of its fit."""

    def __init__(self, estimator, X, max_iter: int, state):
        self._estimator, self._X, self._state = estimator, X, state
        self._root = None
        if getattr(estimator, "_skl_callbacks", None):
            self._root = estimator._init_callback_context(max_subtasks=max_iter)
            self._root.call_on_fit_task_begin(estimator=estimator, X=X)

    def after_iteration(self, problem) -> bool:
        """Whether a callback asks to stop."""
        if self._root is None:
            return False
        task = self._root.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=self._estimator, X=self._X)
        return bool(
            task.call_on_fit_task_end(
                estimator=self._estimator,
                X=self._X,
                reconstruction_attributes=self._state(problem),
            )
        )

    def end(self) -> None:
        if self._root is not None:
            self._root.call_on_fit_task_end(estimator=self._estimator, X=self._X)
