// Applies changes to one file while another thread writes it again and again. Prints what became of them as JSON.
//   node bench/supervision/racing-applies.ts --folder F --applies N
// Both sides write whole texts that say what they follow, so that every text that is ever read can be judged.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { ServerError } from '../../src/domain/errors.ts'
import { sha256 } from '../../src/json/digest.ts'
import { type ChangeWriter, createChangeWriter } from '../../src/supervision/diffs/change-writer.ts'
import { proposeChange } from '../../src/supervision/diffs/propose-change.ts'

export interface RaceReport {
  applied: number
  conflicts: number
  /** Texts that are neither the writer's nor an approved one, as a whole. */
  wrong: number
  /** Writes of the other thread that an apply replaced although they were not what it was approved for. */
  lost: number
  seconds: number
}

const NAME = 'file.txt'
const FILLER = 'x'.repeat(4_000)
const written = (number: number): string => `written ${number}\n${FILLER}\nend of written ${number}\n`
const approved = (number: number, over: string): string =>
  `approved ${number} over ${over}\n${FILLER}\nend of approved ${number}\n`
const wholeText = /^(written|approved) (\d+)(?: over (.*))?\n(x*)\nend of \1 \2\n$/

/** Writes again and again. Judges what it finds before each write. */
function race(folder: string): void {
  const path = join(folder, NAME)
  let number = 0
  let wrong = 0
  let lost = 0
  let isOver = false
  parentPort?.once('message', () => {
    isOver = true
  })
  const turn = (): void => {
    if (isOver) {
      parentPort?.postMessage({ wrong, lost })
      return
    }
    const found = wholeText.exec(readFileSync(path, 'utf8'))
    if (found === null || found[4] !== FILLER) wrong += 1
    // An approved text follows an approved one, or the last that was written here.
    else if (found[1] === 'approved' && !found[3]?.startsWith('approved') && found[3] !== `written ${number}`) lost += 1
    number += 1
    writeFileSync(`${path}.racer`, written(number))
    renameSync(`${path}.racer`, path)
    setTimeout(turn, Math.random() * 30)
  }
  turn()
}

async function applyOnce(writer: ChangeWriter, folder: string, number: number): Promise<'applied' | 'conflict'> {
  const seen = readFileSync(join(folder, NAME), 'utf8')
  try {
    const diff = approved(number, seen.slice(0, seen.indexOf('\n')).replace(/ over .*/, ''))
    const change = await proposeChange({ workspaceRoot: folder, filePath: NAME, diff })
    // The other thread wrote between our look and the proposal. An agent would not have seen what it changes.
    if (change.beforeHash !== sha256(seen)) return 'conflict'
    await writer.apply({ ...change, workspaceRoot: folder }, { beforeRename: async () => {} })
    return 'applied'
  } catch (error) {
    if (error instanceof ServerError && error.code === 'patch_conflict') return 'conflict'
    throw error
  }
}

async function main(folder: string, applies: number): Promise<RaceReport> {
  writeFileSync(join(folder, NAME), written(0))
  const racer = new Worker(new URL(import.meta.url), { workerData: folder })
  const writer = createChangeWriter()
  const began = performance.now()
  const report: RaceReport = { applied: 0, conflicts: 0, wrong: 0, lost: 0, seconds: 0 }
  for (let number = 1; number <= applies; number += 1) {
    if ((await applyOnce(writer, folder, number)) === 'applied') report.applied += 1
    else report.conflicts += 1
  }
  const judged = new Promise<Pick<RaceReport, 'wrong' | 'lost'>>((resolve) => racer.once('message', resolve))
  racer.postMessage('over')
  const { wrong, lost } = await judged
  await racer.terminate()
  return { ...report, wrong, lost, seconds: (performance.now() - began) / 1_000 }
}

if (!isMainThread) race(String(workerData))
else if (import.meta.main) {
  const { values } = parseArgs({
    options: { folder: { type: 'string' }, applies: { type: 'string', default: '10000' } },
  })
  if (values.folder === undefined) throw new Error('--folder is missing')
  process.stdout.write(`${JSON.stringify(await main(values.folder, Number(values.applies)))}\n`)
}
