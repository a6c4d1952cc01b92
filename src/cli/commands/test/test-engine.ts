import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { ApprovalSettings } from '../../../domain/approval-rule.ts'
import { type FileRecord, fileLimits } from '../../../domain/file.ts'
import { createIds } from '../../../domain/ids.ts'
import type { Logger } from '../../../domain/logger.ts'
import { LOCAL_USER } from '../../../domain/session.ts'
import { createJudge, type Judge } from '../../../evaluation/judge.ts'
import type { CaseDeps } from '../../../evaluation/run-case.ts'
import type { FileKeeper } from '../../../files/file-keeper.ts'
import type { LoadedConfig } from '../../load-config.ts'
import type { Io } from '../../terminal/io.ts'

interface TestEngine extends CaseDeps, AsyncDisposable {}

/**
 * Opens the agents with their models, tools and judges, in memory and without a socket. Throws `config_invalid` if no case could pass, for
 * example when a key is missing.
 */
export async function openTestEngine(
  { agents, settings }: LoadedConfig,
  version: string,
  log: Logger,
  io: Io,
): Promise<TestEngine> {
  const { createApp } = await import('../../../app.ts')
  const { createModel } = await import('../../../models/create-model.ts')
  const { createModelHttp } = await import('../../../models/wire/model-http.ts')
  const { createConnections } = await import('../../../outgoing/connections.ts')
  const { clock } = io
  const ids = createIds(() => clock.now())
  await using undo = new AsyncDisposableStack()

  // A temporary folder, because a server may be using the data directory.
  const dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-test-'))
  undo.defer(() => rm(dataDir, { recursive: true, force: true }))
  const connections = createConnections()
  undo.defer(() => connections.close())
  const http = createModelHttp({ connections, clock, userAgent: `quarterdeck/${version}` })
  const judges = new Map<string, Judge>()
  for (const { name, judge, directory } of agents) {
    if (judge === null) continue
    judges.set(name, createJudge(await createModel(judge, { http, clock, ids, random: Math.random, log, directory })))
  }
  const app = await createApp({
    // A case has one person who answers.
    agents: agents.map((agent) => ({ ...agent, approval: withoutQuorum(agent.approval) })),
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
  const { engine, files } = await app.open()
  const opened = undo.move()

  return {
    engine,
    judge: (agent) => judges.get(agent) ?? null,
    attach: (path) => attachFile(files, path),
    clock,
    ids,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const withoutQuorum = ({ quorum: _, ...approval }: ApprovalSettings): ApprovalSettings => approval

/** Reads the files of a case as the doors do. */
function attachFile(files: FileKeeper, path: string): Promise<FileRecord> {
  const maxBytes = fileLimits.multipartBytes
  const content = createReadStream(path)
  return files.add({ owner: LOCAL_USER, name: basename(path), mimeType: null, content, maxBytes })
}
