// The order of test files. A long file that begins last keeps one core busy while the other has nothing left to do, so the longest ones
// begin first. Vitest remembers how long a file took, but not in a new clone.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Each change of project starts new threads, which load everything again. Most files of `node` are short, so they come last and fill the gaps. */
const PROJECTS = ['program', 'browser', 'postgres', 'node']

/** Files that take longer than their size tells, with the longest first. */
const LONGEST = [
  'test/sim/sim.test.ts',
  'test/package.slow.test.ts',
  'test/learn/learn.slow.test.ts',
  'test/asking/asking.slow.test.ts',
  'src/store/sqlite/sqlite-store.test.ts',
  'test/crash/hostile-files.slow.test.ts',
  'test/crash/readers.slow.test.ts',
  'test/crash/histories.slow.test.ts',
  'test/crash/apply.slow.test.ts',
  'src/cli/launcher.slow.test.ts',
  'test/crash/approvals.slow.test.ts',
  'test/crash/kill.test.ts',
  'test/crash/full-disk.slow.test.ts',
  'test/crash/stop.slow.test.ts',
  'test/crash/start.slow.test.ts',
  'test/browser/console-hostile.slow.test.ts',
  'test/browser/console-live.slow.test.ts',
  'test/browser/console-chat.slow.test.ts',
  'src/store/postgres/postgres-store.pg.test.ts',
  'test/postgres/races.slow.pg.test.ts',
  'test/postgres/races-elsewhere.slow.pg.test.ts',
  'src/files/formats/image/read-image.slow.test.ts',
  'src/files/reader/create-file-reader.slow.test.ts',
  'test/e2e/slack-outages.slow.test.ts',
  'test/e2e/slack.test.ts',
  'test/e2e/files.test.ts',
  'test/docs.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files)
    const places = new Map(usual.map((file) => [file, [projectPlace(file), this.filePlace(file)] as const]))
    return usual.toSorted((a, b) => {
      const [projectA, fileA] = places.get(a) ?? [0, 0]
      const [projectB, fileB] = places.get(b) ?? [0, 0]
      return projectA - projectB || fileA - fileB
    })
  }

  private filePlace({ moduleId }: TestSpecification): number {
    const place = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}`))
    return place === -1 ? LONGEST.length : place
  }
}

const projectPlace = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name)
