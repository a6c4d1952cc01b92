// The agents of a server or of some files, in memory, for their test cases.

import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { assembleChannels } from '../config/settings/channel-settings.ts'
import type { ServerSettings } from '../config/settings/server-settings.ts'
import { settings as defaults } from '../config/settings/settings.ts'
import type { ApprovalSettings } from '../domain/agent/approval-rule.ts'
import { createIds } from '../domain/ids.ts'
import { type FileRecord, fileLimits } from '../domain/session/file.ts'
import { LOCAL_USER } from '../domain/session/session.ts'
import { createJudge, type Judge } from '../evaluation/judge.ts'
import type { CaseDeps } from '../evaluation/run-case.ts'
import type { FileKeeper } from '../files/file-keeper.ts'
import { type AppOptions, appDefaults } from './app-options.ts'

export interface TestEngine extends CaseDeps, AsyncDisposable {}

export type TestEngineOptions = Pick<
  AppOptions,
  'agents' | 'settings' | 'version' | 'log' | 'clock' | 'exit' | 'strays' | 'tools' | 'reload' | 'knowledge'
>

/**
 * Opens the agents with their models, tools and judges, in memory and without a socket. Nothing of a server is touched, and no operator
 * is told. Throws `config_invalid` if no case could pass, for example when a key is missing.
 */
export async function openTestEngine(options: TestEngineOptions): Promise<TestEngine> {
  const { agents, settings, version, log, exit, strays, tools, reload, knowledge, clock } = options
  const { createApp } = await import('./app.ts')
  const { createModel } = await import('../models/create-model.ts')
  const { createModelHttp } = await import('../models/wire/model-http.ts')
  const { createConnections } = await import('../outgoing/connections.ts')
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
  // The options of a server have more. None of it may reach the tests: they would leave tokens in its config folder.
  const app = await createApp({
    ...appDefaults(clock),
    version,
    log,
    exit,
    strays,
    tools,
    reload,
    knowledge,
    // A case has one person who answers.
    agents: agents.map((agent) => ({ ...agent, approval: withoutQuorum(agent.approval) })),
    settings: testSettings(settings, dataDir),
    dataDir,
  })
  undo.defer(() => app.close({ drainMs: 0 }))
  const { engine, files, knowledge: documents } = await app.open()
  const opened = undo.move()

  return {
    engine,
    judge: (agent) => judges.get(agent) ?? null,
    attach: (path) => attachFile(files, path),
    search(agent, name) {
      const tools = agents.find((one) => one.name === agent)?.tools ?? []
      const tool = tools.find((one) => one.type === 'knowledge' && one.name === name)
      if (tool?.type !== 'knowledge' || documents === null) throw new Error(`${agent} has no documents named ${name}`)
      return documents.of(tool).search
    },
    clock,
    ids,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** The questions of test cases are answered by the cases, so no channel to people is open. There is no port, so nobody needs a token. */
const testSettings = (settings: ServerSettings, dataDir: string): ServerSettings => ({
  ...settings,
  dataDir,
  store: ':memory:',
  tls: null,
  loopback: true,
  auth: { ...settings.auth, required: false },
  limits: { ...settings.limits, sessions: null },
  channels: assembleChannels((key) => defaults[key].default),
  supervision: {
    ...settings.supervision,
    operators: settings.supervision.operators.map((operator) => ({ ...operator, contacts: {} })),
    defaultWorkspaceRoot: null,
    workspaces: [],
    slack: { channelId: null, channels: [] },
    commands: {},
    hostCli: null,
  },
})

const withoutQuorum = ({ quorum: _, ...approval }: ApprovalSettings): ApprovalSettings => approval

/** Reads the files of a case as the doors do. */
function attachFile(files: FileKeeper, path: string): Promise<FileRecord> {
  const maxBytes = fileLimits.multipartBytes
  const content = createReadStream(path)
  return files.add({ owner: LOCAL_USER, name: basename(path), mimeType: null, content, maxBytes })
}
