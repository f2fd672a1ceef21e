from activities.artifacts import ArtifactStore
from activities.loop.evidence import MAX_BLOCKS, OPEN_CHARS, all_figures, with_figures
from activities.loop.shelf import Shelf
from harness.conversation import Evidence
from tests.activities.loop.loop_stage import environment


async def test_a_few_figures_stay_in_the_conversation() -> None:
    async def work() -> None:
        shelf = Shelf(ArtifactStore.open("memory://"))

        evidence = await with_figures(await with_figures(Evidence(), {"2", "1"}, shelf), {"3", "1"}, shelf)

        assert evidence == Evidence(open=("1", "2", "3"))
        assert await all_figures(evidence, shelf) == {"1", "2", "3"}

    await environment("evidence").run(work)


async def test_many_figures_go_into_blocks_and_all_are_found_again() -> None:
    async def work() -> None:
        shelf, evidence, given = Shelf(ArtifactStore.open("memory://")), Evidence(), set[str]()
        for number in range(100):
            figures = {str(number * 10_000 + each) for each in range(2000)}
            given |= figures
            evidence = await with_figures(evidence, figures, shelf)
            assert sum(map(len, evidence.open)) <= OPEN_CHARS
            assert len(evidence.blocks) <= MAX_BLOCKS

        assert await all_figures(evidence, shelf) == given

    await environment("evidence").run(work)


async def test_the_same_figures_in_another_order_are_the_same_evidence() -> None:
    async def work() -> None:
        shelf = Shelf(ArtifactStore.open("memory://"))
        figures = [str(number) for number in range(5000)]

        there, back = [await with_figures(Evidence(), each, shelf) for each in (figures, reversed(figures))]

        assert there == back

    await environment("evidence").run(work)
