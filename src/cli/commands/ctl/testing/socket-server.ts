// For tests: something that answers at the local socket of a data directory, as the test says.

import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { exampleOf } from '../../../../http/describe-answer.ts'
import { findCtlPlace } from '../../../../operators/ctl/socket.ts'
import { exampleApproval } from '../../../../protocols/manage/approvals/schema.ts'
import { CheckpointSchema, CommandResultSchema } from '../../../../protocols/manage/supervision/checkpoint-schema.ts'
import { AlertSchema, PromptSchema, StandbySchema } from '../../../../protocols/manage/supervision/schema.ts'
import { exampleSupervision } from '../../../../protocols/shared/supervised/schema.ts'
import { main } from '../../../main.ts'
import { tempFolder } from '../../../testing/temp-folder.ts'
import { createTestIo, type TestIo, type TestIoOptions } from '../../../testing/test-io.ts'

export interface Seen {
  method: string
  path: string
  body: unknown
  passphrase: string | null
}

export type Answers = Record<string, unknown>
/** A refusal: its status and its problem. */
export class Refusal {
  readonly status: number
  readonly problem: Record<string, unknown>
  constructor(status: number, problem: Record<string, unknown>) {
    this.status = status
    this.problem = problem
  }
}

/** `answers`: by `GET /inbox`, without the query; a function gets the request. */
export async function openSocketServer(answers: Answers) {
  const cwd = await tempFolder()
  const dataDir = join(cwd, '.quarterdeck')
  const configDir = join(cwd, '.config')
  mkdirSync(dataDir)
  mkdirSync(join(configDir, 'run'), { recursive: true, mode: 0o700 })
  const place = findCtlPlace({ env: {}, configDir, dataDir, ipcName: null, platform: process.platform })
  mkdirSync(place.runtimeDir, { recursive: true })
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const header = request.headers['x-quarterdeck-passphrase']
    const one: Seen = {
      method: request.method ?? '',
      path: request.url ?? '',
      body: text === '' ? null : JSON.parse(text),
      passphrase: typeof header === 'string' ? decodeURIComponent(header) : null,
    }
    seen.push(one)
    const found = answers[`${one.method} ${one.path.replace(/\?.*$/, '')}`]
    const value: unknown = typeof found === 'function' ? found(one, response) : found
    if (!response.headersSent) answer(response, value)
  })
  await new Promise<void>((resolve) => server.listen(place.path, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const env = { QUARTERDECK_OPERATOR_TOKEN: 'operator-token-of-this-test' }
  return {
    cwd,
    answers,
    dataDir,
    seen,
    /** What was sent beside reading. */
    sent: () => seen.filter(({ method }) => method !== 'GET'),
    io: (options: TestIoOptions = {}): TestIo => createTestIo({ cwd, ...options, env: { ...env, ...options.env } }),
    async run(...args: string[]) {
      const io = createTestIo({ cwd, env })
      return { code: await main(['ctl', ...args], io), out: io.printed(), err: io.complained() }
    },
  }
}

function answer(response: ServerResponse, value: unknown): void {
  if (value instanceof Refusal) {
    const { status, problem } = value
    response
      .writeHead(status, { 'content-type': 'application/problem+json' })
      .end(JSON.stringify({ status, ...problem }))
  } else if (value === undefined) {
    answer(response, new Refusal(404, { code: 'record_not_found', detail: 'There is no such thing.' }))
  } else {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }
}

/** The number of a file descriptor from which this text can be read. */
export function descriptor(folder: string, text: string): string {
  const path = join(folder, 'secret')
  writeFileSync(path, text)
  const fd = openSync(path, 'r')
  onTestFinished(() => closeSync(fd))
  return String(fd)
}

const session = '0192f3a1-0000-7def-8abc-0000000000aa'
export const ids = {
  session,
  other: '0192f3a2-0000-7def-8abc-0000000000bb',
  diff: '0192f3b1-1111-7def-8abc-000000000001',
  call: '0192f3b1-2222-7def-8abc-000000000002',
  prompt: '0192f3b2-1111-7def-8abc-000000000003',
  wait: '0192f3b3-1111-7def-8abc-000000000004',
  alert: '0192f3b4-1111-7def-8abc-000000000005',
  checkpoint: '0192f3c1-1111-7def-8abc-000000000006',
}

const at = '2026-11-15T09:04:10.125Z'
const shared = { session_id: session, owner: 'ada', host: 'claude-code', created_at: at }

export const diffApproval = {
  ...exampleApproval,
  ...shared,
  approval_id: ids.diff,
  kind: 'diff',
  status: 'pending',
  title: 'Faster search',
  description: 'Adds an index.',
  risk: 'low',
  tool: 'ask_approval',
  arguments: {},
  digest: 'digest-one',
  change: {
    file_path: 'src/a.ts',
    kind: 'modify',
    added_lines: 1,
    removed_lines: 1,
    warnings: [],
    protected_because: null,
    has_hidden_text: false,
    may_force: false,
    applied_at: null,
    not_applied: null,
  },
  action: null,
  diff: '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n',
  content: 'one\nthree\n',
}
const { diff: _diff, content: _content, ...withoutDiff } = diffApproval
export const callApproval = {
  ...withoutDiff,
  approval_id: ids.call,
  kind: 'permission',
  title: 'Bash',
  risk: 'high',
  tool: 'Bash',
  arguments: { command: 'rm -rf build' },
  digest: 'digest-two',
  change: null,
}
export const prompt = {
  ...exampleOf(PromptSchema),
  ...shared,
  prompt_id: ids.prompt,
  status: 'pending',
  prompt_text: 'Shall I go on?',
  prompt_type: 'continuation',
  elapsed_seconds: 12,
  actions_taken: 3,
}
export const wait = {
  ...exampleOf(StandbySchema),
  ...shared,
  wait_id: ids.wait,
  status: 'waiting',
  message: 'What next?',
  timeout_seconds: 0,
}
export const alert = {
  ...exampleOf(AlertSchema),
  ...shared,
  alert_id: ids.alert,
  status: 'pending',
  last_tool: 'heartbeat',
  idle_seconds: 301,
  nudge_count: 0,
  progress_snapshot: [{ label: 'Find it', status: 'done' }],
}
export const exampleCheckpoint = exampleOf(CheckpointSchema)
export const exampleResult = exampleOf(CommandResultSchema)
export const supervision = {
  ...exampleSupervision,
  last_tool: null,
  progress_snapshot: null,
  session_id: session,
  owner_user_id: 'ada',
  workspace_root: '/home/ada/shop',
  status: 'active',
  host: 'claude-code',
  mode: 'remote',
  title: 'Shop',
  updated_at: at,
  stalls_enabled: true,
}

const item = (kind: string, id: string, record: object) => ({ id, kind, owner: 'ada', created_at: at, [kind]: record })

/** A server with one session and one record of each kind. */
export const usual: Answers = {
  'GET /inbox': {
    cursor: 'f.1',
    items: [
      item('approval', ids.diff, { ...diffApproval, diff: undefined, content: undefined }),
      item('approval', ids.call, callApproval),
      item('prompt', ids.prompt, prompt),
      item('wait', ids.wait, wait),
      item('alert', ids.alert, alert),
      item('later', 'x', {}),
    ],
  },
  'GET /sessions': [{ session_id: 'chat' }, { session_id: session, supervision }],
  [`GET /approvals/${ids.diff}`]: diffApproval,
  [`GET /approvals/${ids.call}`]: callApproval,
  'GET /checkpoints': {
    checkpoints: [
      {
        ...exampleCheckpoint,
        checkpoint_id: ids.checkpoint,
        session_id: session,
        label: 'before',
        workspace_root: '/home/ada/shop',
        created_at: at,
      },
    ],
  },
}
