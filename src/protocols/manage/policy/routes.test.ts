import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { silentLogger } from '../../../domain/logger.ts'
import { sha256 } from '../../../json/digest.ts'
import { workspacePath } from '../../../supervision/agent-service/host-tools.ts'
import { everybody } from '../../../supervision/sessions/may-command.ts'
import { addDecided, type Decided } from '../../../supervision/testing/decided.ts'
import { everywhere, openSupervision } from '../../../supervision/testing/open-supervision.ts'
import { makeWorkspace } from '../../../supervision/testing/workspace.ts'
import { createGuardArguments } from '../../../supervision/workspace/guard-arguments.ts'
import { createAcceptPolicy } from '../../../supervision/workspace-policy/accept-policy.ts'
import { createDraftFromHistory } from '../../../supervision/workspace-policy/draft-policy.ts'
import { protectedByPath } from '../../../supervision/workspace-policy/judge-request.ts'
import { createTryRequest } from '../../../supervision/workspace-policy/try-request.ts'
import { createPolicyWatch } from '../../../supervision/workspace-policy/watch-policy.ts'
import { asAda, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { createPolicyRoutes } from './routes.ts'
import { PolicyDraftSchema } from './schema.ts'

const text = JSON.stringify({ enabled: true, commands: ['npm test'], file_patterns: { write: ['src/**'] } })

async function openPolicy(pinned: string | null) {
  const workspace = makeWorkspace({ '.quarterdeck/policy.json': text, 'src/a.ts': '' })
  const pin =
    pinned === null ? null : { workspaceRoot: workspace, text: pinned, sha256: sha256(pinned), at: 0, by: 'ann' }
  const doors = await openDoors({}, ({ oversight, clock, store }) => {
    const service = openSupervision({ store, operators: everybody })
    const limits = { allowlist: [['npm', 'test']], protectedBecause: protectedByPath }
    return createPolicyRoutes({
      tryRequest: createTryRequest({
        store: { supervised: { pin: async () => pin } },
        policies: createPolicyWatch({ clock, log: silentLogger, onChange() {} }),
        limits,
        guard: createGuardArguments([], '/home/ann'),
        confined: workspacePath,
      }),
      draftPolicy: createDraftFromHistory({ reads: store, limits, most: 100, pause: async () => {} }),
      acceptPolicy: createAcceptPolicy({
        ...service,
        policyFiles: { ...service.policyFiles, ownerIn: async () => 'local_user' },
      }),
      workspaces: everywhere,
      oversight,
      clock,
    })
  })
  const ask = async (request: object) =>
    (await doors.post('/policy/try', { workspace, tool_name: 'Bash', ...request }, asOperator)).json()
  return { doors, ask, workspace }
}

test('POST /policy/try says what the accepted policy would say, and why', async () => {
  const { doors, ask } = await openPolicy(text)
  await using _ = doors
  const accepted = 'An operator has accepted .quarterdeck/policy.json.'

  expect(await ask({ command: 'npm test' })).toEqual({
    auto_approved: true,
    matched_rule: 'command:npm test',
    why: [accepted, 'The policy allows it: command:npm test'],
  })
  expect(await ask({ tool_name: 'Write', file_path: 'src/a.ts' })).toMatchObject({
    matched_rule: 'file_pattern:write:src/**',
  })
  expect(await ask({ tool_name: 'Write', file_path: '../a.ts' })).toEqual({
    auto_approved: false,
    matched_rule: null,
    why: [accepted, 'The path does not lead to a file of the workspace.'],
  })
  expect(await ask({ command: 'npm test', risk_level: 'critical' })).toMatchObject({ auto_approved: false })
})

test('POST /policy/try counts nothing that no operator has accepted', async () => {
  const { doors, ask } = await openPolicy(null)
  await using _ = doors
  expect(await ask({ command: 'npm test' })).toEqual({
    auto_approved: false,
    matched_rule: null,
    why: ['No operator has accepted the policy file of this workspace yet.'],
  })
})

test('POST /policy/try refuses what it cannot use', async () => {
  const { doors } = await openPolicy(text)
  await using _ = doors
  const refused = async (body: object, headers = asOperator) =>
    refusalOf(await doors.post('/policy/try', body, headers))
  const invalid = { status: 400, code: 'invalid_request' }

  expect(await refused({ tool_name: 'Bash' })).toEqual(invalid)
  expect(await refused({ tool_name: 'Bash', workspace: '/x', session_id: 'y' })).toEqual(invalid)
  expect(await refused({ tool_name: 'Bash', workspace: '/x', more: 1 })).toEqual(invalid)
  const missing = '0192f3a1-7b2c-7def-8abc-0123456789ab'
  expect(await refused({ tool_name: 'Bash', session_id: missing })).toEqual({ status: 404, code: 'session_not_found' })
  const { session } = await doors.start('Hi', { owner: 'ada' })
  expect(await refused({ tool_name: 'Bash', session_id: session.id })).toEqual(invalid)
  expect(await refused({ tool_name: 'Bash', workspace: '/x' }, asAda)).toEqual({ status: 403, code: 'forbidden' })
})

test('POST /policy/draft says what people decided, and what an edited text would have changed', async () => {
  const { doors, workspace } = await openPolicy(null)
  await using _ = doors
  const now = doors.clock.now()
  await addDecided(doors.store, workspace, now, [
    ...Array<Decided>(4).fill(['npm test', 'approved']),
    ...Array<Decided>(3).fill(['make', 'approved']),
    ['rm x', 'rejected'],
  ])
  const ask = (more: object) => doors.post('/policy/draft', { workspace, ...more }, asOperator)
  const draft = PolicyDraftSchema.parse(await (await ask({ since: '24h' })).json())
  const drafted = { enabled: true, commands: ['npm test'], tools: [], file_patterns: { write: [], read: [] } }
  expect(JSON.parse(draft.text)).toMatchObject(drafted)
  expect(draft).toEqual({
    workspace,
    text: expect.any(String),
    base_sha256: sha256(text),
    lines: [{ what: 'command:npm test', why: '', allowed: 4, refused: 0, by: ['ada'] }],
    open: [
      {
        what: 'make',
        why: 'The command is not one of the commands in the server’s settings.',
        allowed: 3,
        refused: 0,
        by: ['ada'],
      },
      { what: 'rm x', why: 'People refused it.', allowed: 0, refused: 1, by: ['ada'] },
    ],
    more: 0,
    commands: ['  make: ["make"]'],
    replay: { requests: 8, cut: false, asked: 8, left: 4, against: [] },
  })
  // Everything is older than a minute.
  expect(await (await ask({ since: '1m' })).json()).toMatchObject({ lines: [], replay: { requests: 0 } })
  expect(await (await ask({ text: '{"enabled": false}' })).json()).toMatchObject({
    text: '{"enabled": false}',
    lines: [],
    replay: { asked: 8, left: 8, against: [] },
  })
  expect(await (await ask({ text: '{"enabled": tru}' })).json()).toMatchObject({
    code: 'invalid_request',
    errors: [{ pointer: '/text', detail: expect.stringMatching(/^1:\d+ /) }],
  })
  const kinds = (await doors.store.audit.entries(0, 100)).map(({ text: entry }) => JSON.parse(entry).kind)
  expect(kinds).toContain('operator_list')
})

test('POST /policy/accept writes and pins the draft', async () => {
  const { doors, workspace } = await openPolicy(null)
  await using _ = doors
  const sent = JSON.stringify({ enabled: true, commands: ['npm test'] })
  const accept = (more: object) => doors.post('/policy/accept', { workspace, text: sent, ...more }, asOperator)
  expect(await refusalOf(await accept({}))).toEqual({ status: 409, code: 'conflict' })
  expect(await refusalOf(await accept({ text: '{' }))).toEqual({ status: 400, code: 'invalid_request' })
  expect(await (await accept({ base_sha256: sha256(text) })).json()).toEqual({
    file: '.quarterdeck/policy.json',
    approval_id: null,
  })
  expect(readFileSync(join(workspace, '.quarterdeck/policy.json'), 'utf8')).toBe(sent)
  expect(await doors.store.supervised.pin(workspace)).toMatchObject({ text: sent, by: 'operator' })
})

test('the routes of drafts refuse what they cannot use', async () => {
  const { doors } = await openPolicy(null)
  await using _ = doors
  const invalid = { status: 400, code: 'invalid_request' }
  const wrong = [{}, { since: '7d' }, { workspace: '/x', session_id: 'y' }, { workspace: '/x', since: 'week' }]
  for (const body of [...wrong, { workspace: '/x', more: 1 }]) {
    expect(await refusalOf(await doors.post('/policy/draft', body, asOperator))).toEqual(invalid)
  }
  expect(await refusalOf(await doors.post('/policy/accept', { text: '{}' }, asOperator))).toEqual(invalid)
  const forbidden = { status: 403, code: 'forbidden' }
  expect(await refusalOf(await doors.post('/policy/draft', { workspace: '/x' }, asAda))).toEqual(forbidden)
  expect(await refusalOf(await doors.post('/policy/accept', { workspace: '/x', text: '{}' }, asAda))).toEqual(forbidden)
})
