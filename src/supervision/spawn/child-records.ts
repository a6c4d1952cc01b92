// Which hosts we have started, on disk, so that the server finds them again after it was killed. A record names the number and the start
// of a process: a number alone may belong to a stranger by then.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Clock, sleep } from '../../domain/clock.ts'
import { endTree } from '../../tools/process/process-groups.ts'
import { isSameProcess } from '../../tools/process/process-table.ts'

/** The time between SIGTERM and SIGKILL, for every host. */
export const TERM_MS = 5_000
const WATCH_MS = 1_000

const RecordSchema = z.object({
  session_id: z.string(),
  pid: z.int().min(2),
  started: z.string().min(1),
  host: z.string(),
  workspace: z.string(),
  /** The folder with its configuration. */
  folder: z.string(),
  started_at: z.string(),
})

type ChildRecord = z.infer<typeof RecordSchema>

export interface ChildRecords {
  write(record: ChildRecord): void
  remove(sessionId: string): void
  outputPath(sessionId: string): string
  /** Removes the output too, when the session is purged. */
  purge(sessionId: string): void
  list(): ChildRecord[]
}

const SAFE_ID = /^[A-Za-z0-9_-]{1,128}$/

export function createChildRecords(dataDir: string): ChildRecords {
  const folder = join(dataDir, 'hosts')
  const path = (sessionId: string, ending: string): string => {
    if (!SAFE_ID.test(sessionId)) throw new Error(`not the id of a session: ${JSON.stringify(sessionId)}`)
    return join(folder, `${sessionId}.${ending}`)
  }
  const make = () => void mkdirSync(folder, { recursive: true, mode: 0o700 })
  return {
    write(record) {
      make()
      writeFileSync(path(record.session_id, 'json'), `${JSON.stringify(record)}\n`, { mode: 0o600 })
    },
    remove: (sessionId) => rmSync(path(sessionId, 'json'), { force: true }),
    outputPath(sessionId) {
      make()
      return path(sessionId, 'log')
    },
    purge(sessionId) {
      for (const ending of ['json', 'log', 'log.1']) rmSync(path(sessionId, ending), { force: true })
    },
    list: () =>
      namesIn(folder)
        .filter((name) => name.endsWith('.json'))
        .flatMap((name) => readRecord(join(folder, name))),
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** A damaged record, such as one that a crash cut off, names no process and is removed. */
function readRecord(path: string): ChildRecord[] {
  try {
    return [RecordSchema.parse(JSON.parse(readFileSync(path, 'utf8')))]
  } catch {
    rmSync(path, { force: true })
    return []
  }
}

/** A host that an earlier process of ours has started and that still runs. */
export interface FoundChild {
  readonly record: ChildRecord
  /** Resolves when it is gone, or when the signal aborts. Looks once a second. */
  gone(signal?: AbortSignal): Promise<void>
  /** Ends it and everything it has started. Its record is gone when it resolves. */
  terminate(): Promise<void>
}

/** The folder with the configuration of each host. */
export const hostFolders = (runtimeDir: string): string => join(runtimeDir, 'hosts')

/** For the start of the server. Removes what is left of those that are gone, such as the tokens in their configuration. */
export function findChildren(deps: { records: ChildRecords; runtimeDir: string; clock: Clock }): FoundChild[] {
  const { records, runtimeDir, clock } = deps
  const found = livingChildren(records, clock)
  const used = new Set(found.map(({ record }) => record.folder))
  for (const name of namesIn(hostFolders(runtimeDir))) {
    const folder = join(hostFolders(runtimeDir), name)
    if (!used.has(folder)) rmSync(folder, { recursive: true, force: true })
  }
  return found
}

function livingChildren(records: ChildRecords, clock: Clock): FoundChild[] {
  return records.list().flatMap((record) => {
    const mark = { pid: record.pid, started: record.started }
    const forget = () => {
      records.remove(record.session_id)
      rmSync(record.folder, { recursive: true, force: true })
    }
    if (!isSameProcess(mark)) {
      forget()
      return []
    }
    const isGone = () => !isSameProcess(mark)
    return [
      {
        record,
        async gone(signal) {
          while (!isGone() && !signal?.aborted) await sleep(clock, WATCH_MS, signal)
          if (isGone()) forget()
        },
        async terminate() {
          if (!isGone()) await endTree(record.pid, { clock, termMs: TERM_MS, hasExited: isGone })
          forget()
        },
      },
    ]
  })
}
