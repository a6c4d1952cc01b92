// For tests: something that answers at the local socket of a data directory, as the test says.

import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { isoTime } from '../../../../domain/clock.ts'
import type { Alert, Approval, PersonRecord, Prompt, Standby } from '../../../../domain/records/record.ts'
import { exampleOf } from '../../../../http/describe-answer.ts'
import { findCtlPlace } from '../../../../operators/ctl/socket.ts'
import { encodeRecord, withRequests } from '../../../../protocols/manage/records/kinds-on-wire.ts'
import { CheckpointSchema, CommandResultSchema } from '../../../../protocols/manage/supervision/checkpoint-schema.ts'
import { exampleSupervision } from '../../../../protocols/shared/supervised/schema.ts'
import { shownDiff } from '../../../../supervision/diffs/show-change.ts'
import { describe as describeRecord } from '../../../../supervision/records/describe-record.ts'
import { approval as anyApproval } from '../../../../supervision/testing/approval.ts'
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
const shared = { sessionId: session, owner: 'ada', agent: 'claude-code', createdAt: Date.parse(at), expiresAt: null }
export const elsewhere = {
  host: 'claude-code',
  contentKey: 'k',
  returnedAt: null,
  mayForce: false,
  isEdited: false,
  appliedAt: null,
  change: null,
}
const { runId, callId, tool, lane, continuationRunId } = anyApproval
const asked = {
  ...shared,
  ...{ runId, callId, tool, lane, continuationRunId, arguments: '{}', messageRefs: {} },
  ...{ decidedAt: null, decidedBy: null, decidedVia: null, reason: null },
  supervised: elsewhere,
}

const diffRecord: Approval = {
  ...anyApproval,
  ...shared,
  id: ids.diff,
  kind: 'diff',
  title: 'Faster search',
  description: 'Adds an index.',
  risk: 'low',
  tool: 'ask_approval',
  digest: 'digest-one',
  supervised: {
    ...elsewhere,
    change: {
      path: 'src/a.ts',
      kind: 'modify',
      addedLines: 1,
      removedLines: 1,
      warnings: [],
      protectedBecause: null,
      hasHiddenText: false,
    },
  },
}
const callRecord: Approval = {
  ...anyApproval,
  ...shared,
  id: ids.call,
  kind: 'permission',
  title: 'Bash: rm -rf build',
  risk: 'high',
  tool: 'Bash',
  arguments: '{"command":"rm -rf build"}',
  digest: 'digest-two',
  supervised: elsewhere,
}
const promptRecord: Prompt = {
  ...asked,
  wait: 'prompt',
  id: ids.prompt,
  status: 'pending',
  promptText: 'Shall I go on?',
  promptType: 'continuation',
  elapsedSeconds: 12,
  actionsTaken: 3,
  decision: null,
  instruction: null,
}
const standbyRecord: Standby = {
  ...asked,
  wait: 'standby',
  id: ids.wait,
  status: 'pending',
  message: 'What next?',
  timeoutSeconds: 0,
  instruction: null,
}
const alertRecord: Alert = {
  ...asked,
  wait: 'alert',
  id: ids.alert,
  status: 'pending',
  lastTool: 'heartbeat',
  lastActivityAt: Date.parse(at) - 301_000,
  idleSeconds: 301,
  nudgeCount: 0,
  nudgeMessage: null,
  lastNudgeAt: null,
  nudgedBy: null,
  progressSnapshot: [{ label: 'Find it', status: 'done' }],
}
export const records = {
  diff: diffRecord,
  call: callRecord,
  prompt: promptRecord,
  standby: standbyRecord,
  alert: alertRecord,
}

interface Place {
  folder?: string | null
  /** Behind an approval. */
  diff?: string
}

export const DIFF = '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n'

/** A record as the server sends it alone. */
export function sent(record: PersonRecord, { folder = '/home/ada/shop', diff }: Place = {}) {
  const change = record.wait === 'approval' ? record.supervised?.change : undefined
  const shown = diff === undefined ? null : shownDiff({ path: change?.path ?? '', diff }).text
  const scene = { folder, title: 'Shop', status: 'active', prompt: null, diff: shown } as const
  return {
    ...encodeRecord(record),
    ...(diff === undefined ? {} : { diff }),
    view: withRequests(record, describeRecord(record, scene)),
  }
}

/** The same in the inbox. */
export function listed(record: PersonRecord, place: Place = {}) {
  const { view } = sent(record, place)
  const { id, owner, createdAt } = record
  return {
    ...{ id, kind: view.kind, owner, created_at: isoTime(createdAt), view: { ...view, body: [] } },
    [view.kind]: encodeRecord(record),
  }
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

/** A server with one session and one record of each kind. */
export const usual: Answers = {
  'GET /inbox': {
    cursor: 'f.1',
    items: [
      ...Object.values(records).map((one) => listed(one)),
      { id: 'x', kind: 'later', owner: 'ada', created_at: at, later: {} },
    ],
  },
  'GET /sessions': [{ session_id: 'chat' }, { session_id: session, supervision }],
  [`GET /approvals/${ids.diff}`]: { ...sent(records.diff, { diff: DIFF }), content: 'one\nthree\n' },
  [`GET /approvals/${ids.call}`]: sent(records.call),
  [`GET /prompts/${ids.prompt}`]: sent(records.prompt),
  [`GET /waits/${ids.wait}`]: sent(records.standby),
  [`GET /alerts/${ids.alert}`]: sent(records.alert),
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
