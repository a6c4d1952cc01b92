import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { diskFiles, readText } from '../config/config-files.ts'
import { ServerError } from '../domain/errors.ts'
import { createIds } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { createJudge, type Judge } from '../evaluation/judge.ts'
import type { CaseDeps } from '../evaluation/run-case.ts'
import type { Io } from './io.ts'
import type { LoadedConfig } from './load-config.ts'

export interface TestEngine extends CaseDeps, AsyncDisposable {}

/**
 * The agents with their models and tools, in memory and without a socket, and the judges of those that have one.
 * Throws `config_invalid` for what no case could get right, e.g. a key that is missing.
 */
export async function openTestEngine(
  { agents, settings }: LoadedConfig,
  version: string,
  log: Logger,
  io: Io,
): Promise<TestEngine> {
  const { createApp } = await import('../app.ts')
  const { createModel } = await import('../models/create-model.ts')
  const { createModelHttp } = await import('../models/http-stream.ts')
  const { clock } = io
  const ids = createIds(() => clock.now())
  await using undo = new AsyncDisposableStack()

  // A folder of its own: a server may be using the data directory.
  const dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-test-'))
  undo.defer(() => rm(dataDir, { recursive: true, force: true }))
  const http = createModelHttp({ clock })
  undo.defer(() => http.close())
  const judges = new Map<string, Judge>()
  for (const { name, judge, directory } of agents) {
    if (judge === null) continue
    judges.set(name, createJudge(await createModel(judge, { http, clock, ids, random: Math.random, log, directory })))
  }
  const app = await createApp({
    agents,
    settings: {
      ...settings,
      dataDir,
      store: ':memory:',
      tls: null,
      limits: { ...settings.limits, sessions: null },
    },
    dataDir,
    version,
    log,
    clock,
    exit(code) {
      io.exit(code)
      throw new Error(`the process did not end with ${code}`)
    },
  })
  undo.defer(() => app.close({ drainMs: 0 }))
  const opened = undo.move()

  return {
    engine: app.engine,
    judge: (agent) => judges.get(agent) ?? null,
    readText: readTestFile,
    clock,
    ids,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Other kinds of files would reach the agent without their content, and the case would test something else. */
async function readTestFile(path: string): Promise<string> {
  const { text, problem } = readText(diskFiles, path)
  if (text !== null) return text
  throw new ServerError('invalid_request', `${basename(path)} cannot be sent: ${problem}. A test sends text files.`)
}
