import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const thread = new URL('./work-thread.ts', import.meta.url)
const clock = new URL('../../domain/clock.ts', import.meta.url)

const program = (directory: string): string => `
import { createWorkThread } from '${thread}'
import { createSystemClock } from '${clock}'
const log = { debug() {}, info() {}, warn() {}, error: (text) => console.log(text), with: () => log }
const directory = ${JSON.stringify(directory)}
const index = { id: 'docs', sources: ['a.md'], directory, folders: [directory], ignore: [], embedding: null }
const work = createWorkThread({
  settings: { store: { kind: 'sqlite', path: ':memory:', readOnly: false }, cacheDir: directory + '/.cache', indexes: [index], excluded: [] },
  listener: { progress() { throw new Error('nobody wants to hear it') }, embed: async () => [] },
  restMs: 60_000, clock: createSystemClock(), log,
})
if (process.argv[2] === 'all') await work.update('docs')
const update = work.update('docs').catch(() => {})
await work.close()
await update
console.log('closed')
`

test.each(['all', 'some'])(
  'a program waits until its thread is closed, also in the middle of an update: %s',
  async (how) => {
    const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-thread-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    await writeFile(join(directory, 'a.md'), '# Leave\n\n20 days.\n')
    await writeFile(join(directory, 'program.mjs'), program(directory))
    const { stdout } = await promisify(execFile)(process.execPath, [join(directory, 'program.mjs'), how])
    expect(stdout).toBe('closed\n')
  },
)
