"""Two ways to keep a handler short: the work in a service, or in a method of its own."""

from basic.models import Item
from jobu import BaseHandler, HandlerParams, handler, transactional
from patterns.services import Restocked, StockService


class RestockParams(HandlerParams):
    names: list[str] | None = None
    minimum: int = 10


@handler("service_layer", timeout_seconds=60, events=True)
class ServiceLayerHandler(BaseHandler):
    """Reads params, calls the service, returns what it says; the service is what is tested."""

    def execute(self, params: RestockParams) -> Restocked:
        service = StockService(minimum=params.minimum)
        return service.restock(params.names or ["apples", "pears", "plums"])


class SellParams(HandlerParams):
    name: str = "apples"
    quantity: int = 1


@handler("do_work_pattern", timeout_seconds=60, events=True)
class DoWorkHandler(BaseHandler):
    """`execute` prepares and reports outside of the transaction, `do_work` is the transaction."""

    def execute(self, params: SellParams) -> dict[str, object]:
        left = self.do_work(params)
        return {"item": params.name, "left": left}

    @transactional("sqlite_2")
    def do_work(self, params: SellParams) -> int:
        item = Item.objects.using("sqlite_2").filter(name=params.name).first()
        if item is None:
            item = Item(name=params.name, quantity=100)
        item.quantity = max(0, item.quantity - params.quantity)
        item.save(using="sqlite_2")
        return item.quantity
