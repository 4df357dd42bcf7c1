"""Operators by name: flambeau.ops.aten.add.Tensor(a, b, alpha=2), as torch.ops has them."""


class Overloads:
    """All overloads of an operator; calling it takes the one that fits the arguments."""

    def __init__(self, session, name):
        self._session = session
        self._name = name

    def __call__(self, *args, **kwargs):
        return self._session.call_best(self._name, *args, **kwargs)

    def __getattr__(self, overload):
        if overload.startswith("__"):
            raise AttributeError(overload)
        found = self._session.get(f"{self._name}.{overload}")
        setattr(self, overload, found)
        return found

    def overloads(self):
        """The overloads that can be called; the default one is ''."""
        return self._session.overloads(self._name)

    def __repr__(self):
        return f"<flambeau operator {self._name} with overloads {', '.join(o or 'default' for o in self.overloads())}>"


class Namespace:
    """The operators before whose name stands 'aten::', for example."""

    def __init__(self, session, name):
        self._session = session
        self._name = name

    def __getattr__(self, operator):
        # Operators have such names too: aten::__and__. But Python asks every object for some it does not have.
        if operator.startswith("__") and not self._session.overloads(f"{self._name}::{operator}"):
            raise AttributeError(operator)
        found = Overloads(self._session, f"{self._name}::{operator}")
        setattr(self, operator, found)
        return found

    def __repr__(self):
        return f"<flambeau operators of {self._name}>"


class Operators:
    """Every namespace: flambeau.ops.aten, flambeau.ops.my."""

    def __init__(self, session):
        self._session = session

    def has(self, name):
        """Whether an operator can be called: has('aten::add.Tensor'), has('aten.relu')."""
        return self._session.has(name)

    def __getattr__(self, namespace):
        if namespace.startswith("__"):
            raise AttributeError(namespace)
        found = Namespace(self._session, namespace)
        setattr(self, namespace, found)
        return found

    def __repr__(self):
        return "<flambeau operators>"
