import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Where in the order the last test with a broker or a browser begins: some of them are long, and would be alone at the end. */
const LONG_UNTIL = 0.7;

/**
 * Tests with a broker or a browser wait most of the time: they are spread among the others, so that the processors have work meanwhile. By
 * itself vitest takes one project after the other.
 */
export class SpreadOut extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    const placed = [...projects].flatMap(([name, specs]) => {
      const until = name === 'kafka' || name === 'web' ? LONG_UNTIL : 1;
      return specs.map((spec, at) => ({ spec, place: (until * at) / specs.length }));
    });
    return placed.sort((a, b) => a.place - b.place).map(({ spec }) => spec);
  }
}
