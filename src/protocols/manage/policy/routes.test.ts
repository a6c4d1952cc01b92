import { expect, test } from 'vitest'
import { silentLogger } from '../../../domain/logger.ts'
import { sha256 } from '../../../json/digest.ts'
import { workspacePath } from '../../../supervision/agent-service/host-tools.ts'
import { everywhere } from '../../../supervision/testing/open-supervision.ts'
import { makeWorkspace } from '../../../supervision/testing/workspace.ts'
import { createGuardArguments } from '../../../supervision/workspace/guard-arguments.ts'
import { protectedByPath } from '../../../supervision/workspace-policy/judge-request.ts'
import { createTryRequest } from '../../../supervision/workspace-policy/try-request.ts'
import { createPolicyWatch } from '../../../supervision/workspace-policy/watch-policy.ts'
import { asAda, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { createPolicyRoutes } from './routes.ts'

const text = JSON.stringify({ enabled: true, commands: ['npm test'], file_patterns: { write: ['src/**'] } })

async function openPolicy(pinned: string | null) {
  const workspace = makeWorkspace({ '.quarterdeck/policy.json': text, 'src/a.ts': '' })
  const pin =
    pinned === null ? null : { workspaceRoot: workspace, text: pinned, sha256: sha256(pinned), at: 0, by: 'ann' }
  const doors = await openDoors({}, ({ oversight, clock }) =>
    createPolicyRoutes({
      tryRequest: createTryRequest({
        store: { supervised: { pin: async () => pin } },
        policies: createPolicyWatch({ clock, log: silentLogger, onChange() {} }),
        limits: { allowlist: [['npm', 'test']], protectedBecause: protectedByPath },
        guard: createGuardArguments([], '/home/ann'),
        confined: workspacePath,
      }),
      workspaces: everywhere,
      oversight,
    }),
  )
  const ask = async (request: object) =>
    (await doors.post('/policy/try', { workspace, tool_name: 'Bash', ...request }, asOperator)).json()
  return { doors, ask }
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
