import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
import { testOperator } from '../../domain/testing/test-operator.ts'
import { ConfigError, formatIssue } from '../config-error.ts'
import { resolveSettings } from './resolve-settings.ts'
import type { CodeSettings } from './settings.ts'

const resolve = (yaml: string, env: Record<string, string> = {}): SupervisionSettings =>
  resolveSettings({ flags: {}, env, onTerminal: false, file: { path: '/etc/q/quarterdeck.yaml', text: yaml } }).settings
    .supervision

function mistakes(yaml: string): string[] {
  try {
    resolve(yaml)
  } catch (error) {
    if (error instanceof ConfigError) return error.issues.map(formatIssue)
    throw error
  }
  return []
}

const { name: _, ...nobody } = testOperator({ name: '' })

describe('the settings about agents that work elsewhere', () => {
  test('can all be written in quarterdeck.yaml, with paths relative to the file', () => {
    const yaml = `
default_workspace_root: projects
workspaces:
  - { path: shop, id: shop, channel_id: C2, label: The shop }
  - path: /srv/blog
operators:
  people:
    - { name: ada, slack: U1, console: ada@work, logins: corp:ada, local: true, admin: true }
    - { name: ben, group: night }
    - { group: sre, admin: true }
  escalation:
    - { after: 1h, to: [night, ada] }
    - { after: 15m, to: ben }
  quorum: 2
authorized_user_ids: [U1, U9]
max_concurrent_sessions: 20
max_concurrent_sessions_total: 50
host_cli: claude
host_cli_args: [--model, opus]
timeouts: { approval_seconds: 2h, prompt_seconds: 60, wait_seconds: 5m }
stall:
  enabled: false
  inactivity_threshold_seconds: 10m
  escalation_threshold_seconds: 1m
  max_retries: 0
  default_nudge_message: Well, go on.
commands:
  status: git status --short
  test: [npm, test]
slack: { channel_id: C1, channels: [C2, C1] }
modes: { agent_may_set: false }
ipc_name: service
`
    expect(resolve(yaml)).toEqual({
      defaultWorkspaceRoot: '/etc/q/projects',
      workspaces: [
        { path: '/etc/q/shop', id: 'shop', channelId: 'C2', label: 'The shop' },
        { path: '/srv/blog', id: null, channelId: null, label: null },
      ],
      operators: [
        {
          ...nobody,
          name: 'ada',
          contacts: { slack: 'U1' },
          console: 'ada@work',
          logins: ['corp:ada'],
          local: true,
          admin: true,
        },
        { ...nobody, name: 'ben', group: 'night' },
        { ...nobody, name: 'U9', contacts: { slack: 'U9' } },
      ],
      operatorGroups: [{ group: 'sre', admin: true }],
      escalation: [
        { afterMs: 900_000, to: ['ben'] },
        { afterMs: 3_600_000, to: ['night', 'ada'] },
      ],
      quorum: { low: 2, high: 2, critical: 2 },
      maxConcurrentSessions: 20,
      maxConcurrentSessionsTotal: 50,
      hostCli: 'claude',
      hostCliArgs: ['--model', 'opus'],
      timeouts: { approvalMs: 7_200_000, promptMs: 60_000, waitMs: 300_000 },
      stall: {
        enabled: false,
        inactivityMs: 600_000,
        escalationMs: 60_000,
        maxRetries: 0,
        nudgeMessage: 'Well, go on.',
      },
      commands: { status: 'git status --short', test: ['npm', 'test'] },
      slack: { channelId: 'C1', channels: ['C1', 'C2'] },
      modes: { agentMaySet: false },
      ipcName: 'service',
    } satisfies SupervisionSettings)
  })

  test('may come from the code of an embedding program', () => {
    const code: CodeSettings = { workspaces: [{ path: '/srv/shop' }], commands: { ls: ['ls', '-l'] } }
    const { supervision } = resolveSettings({ code, flags: {}, env: {}, file: null, onTerminal: false }).settings
    expect([supervision.workspaces, supervision.commands]).toEqual([
      [{ path: '/srv/shop', id: null, channelId: null, label: null }],
      { ls: ['ls', '-l'] },
    ])
  })

  test('that are one value may come from the environment, and a message keeps its commas', () => {
    const env = {
      QUARTERDECK_MAX_CONCURRENT_SESSIONS: '7',
      QUARTERDECK_STALL_ENABLED: 'no',
      QUARTERDECK_TIMEOUTS_WAIT_SECONDS: '2m',
      QUARTERDECK_STALL_DEFAULT_NUDGE_MESSAGE: 'Hello, are you there?',
      QUARTERDECK_IPC_NAME: 'desk',
    }
    const { maxConcurrentSessions, stall, timeouts, ipcName } = resolve('host: 127.0.0.1', env)
    expect([maxConcurrentSessions, stall.enabled, timeouts.waitMs, stall.nudgeMessage, ipcName]).toEqual([
      7,
      false,
      120_000,
      'Hello, are you there?',
      'desk',
    ])
  })

  test('name who decides and what runs only in the file', () => {
    const env = { QUARTERDECK_HOST_CLI: 'evil', QUARTERDECK_OPERATORS: 'eve', QUARTERDECK_COMMANDS: 'x' }
    const { hostCli, operators, commands } = resolve('host: 127.0.0.1', env)
    expect([hostCli, operators.map(({ name }) => name), commands]).toEqual([null, ['local_user'], {}])
  })

  test.each([
    ['operators: [{ name: ada }]', [{ ...nobody, name: 'ada', local: true }]],
    ['authorized_user_ids: [U1, U1]', [{ ...nobody, name: 'U1', contacts: { slack: 'U1' }, local: true }]],
  ])('a sole operator is also local: %s', (yaml, operators) => {
    expect(resolve(yaml).operators).toEqual(operators)
  })

  test('a group of an identity provider may stand for operators, with any quorum', () => {
    const text = 'operators: { people: [{ group: sre, admin: true }], escalation: [{ after: 1m, to: sre }], quorum: 5 }'
    const { operators, operatorGroups, quorum } = resolve(text)
    expect([operatorGroups, quorum.low]).toEqual([[{ group: 'sre', admin: true }], 5])
    // Whoever has the tokens of this machine is not locked out.
    expect(operators).toEqual([{ ...nobody, name: 'local_user', local: true, admin: true }])
    expect(resolve('operators: [{ name: ada }, { group: sre }]').operators).toEqual([{ ...nobody, name: 'ada' }])
  })

  test('a group has the name that its provider gives it, such as a path or words', () => {
    const text =
      'operators: { people: [{ group: /ops/on-call }, { group: "Équipe SRE" }], escalation: [{ after: 1m, to: /ops/on-call }] }'
    expect(resolve(text).operatorGroups.map(({ group }) => group)).toEqual(['/ops/on-call', 'Équipe SRE'])
  })

  test('of several operators none is local unless the file says so', () => {
    expect(resolve('operators: [{ name: ada }, { name: ben }]').operators.map(({ local }) => local)).toEqual([
      false,
      false,
    ])
  })

  test.each([
    ['operators: [{ name: ada }, { name: ada }]', '1:36 operators[1].name: entry 1 already has the name "ada".'],
    [
      'operators: [{ name: a, slack: U1 }, { name: b, slack: U1 }]',
      '1:55 operators[1].slack: entry 1 already has the slack "U1".',
    ],
    [
      'operators: [{ name: a, local: true }, { name: b, local: true }]',
      '1:57 operators[1].local: only one operator can be local, because one passphrase guards this machine.',
    ],
    [
      'operators: { people: [{ name: a }, { name: b }], quorum: 2 }',
      '1:12 operators: quorum asks for 2 yeses, but besides the owner of a session too few may decide. Make others admins, or name them in escalation.',
    ],
    [
      'operators: { people: [{ name: a }], quorum: { critical: 2 } }',
      '1:12 operators: quorum asks for 2 operators, and there are only 1. Add some, or lower it.',
    ],
    [
      'operators: { people: [{ name: a }], quorum: 2 }',
      '1:12 operators: quorum asks for 2 operators, and there are only 1. Add some, or lower it.',
    ],
    [
      'operators: { people: [{ name: a }], escalation: [{ after: 1m, to: b }] }',
      '1:12 operators: escalation names "b", but no operator and no group is called that.',
    ],
    ['operators: [{ group: sre }, { group: sre }]', '1:38 operators[1].group: entry 1 already has the group "sre".'],
    ['operators: [{ admin: true }]', '1:13 operators[0].name: an operator needs a name, or a group.'],
    [
      'operators: [{ group: sre, slack: U1 }]',
      '1:34 operators[0].slack: an entry for a group has only group and admin.',
    ],
    [
      'operators: [{ name: a, logins: [corp:x] }, { name: b, logins: corp:x }]',
      '1:63 operators[1].logins: entry 1 already has the login "corp:x".',
    ],
    ['workspaces: [{ path: a, id: x }, { path: b, id: x }]', '1:49 workspaces[1].id: entry 1 already has the id "x".'],
    [
      'workspaces: [{ path: a, channel_id: C5 }]',
      '1:13 workspaces: /etc/q/a uses the Slack channel C5. Add it to slack.channels.',
    ],
    [
      'workspaces: [{ path: ~/shop }]',
      '1:22 workspaces[0].path: expected a folder, without ~, found "~/shop". Write e.g. path: projects/shop',
    ],
    [
      'commands: { x: "ls | wc" }',
      '1:16 commands.x: commands run without a shell, and this line cannot: it has |, which only a shell understands. Put it into a script, or write a list of arguments.',
    ],
    [
      'commands: { Big Thing: ls }',
      '1:13 commands.Big Thing: this name is not allowed here; expected aliases (lower-case letters, digits, - and _) with command lines. Write e.g. commands: { status: git status --short, test: [ npm, test ] }',
    ],
    [
      'authorized_user_ids: [ada]',
      '1:23 authorized_user_ids[0]: expected the id of a Slack user, such as U012AB3CD, found "ada".',
    ],
    [
      'max_concurrent_sessions: 0',
      '1:26 max_concurrent_sessions: expected a whole number between 1 and 1000, found 0. Write e.g. max_concurrent_sessions: 3',
    ],
    [
      'stall: { inactivity_threshold_seconds: 0 }',
      '1:40 stall.inactivity_threshold_seconds: expected seconds, or a time such as "30s", "15m" or "2h", at most 24 days, found 0. Write e.g. inactivity_threshold_seconds: 300',
    ],
    [
      'ipc_name: ../x',
      '1:11 ipc_name: expected up to 32 letters, digits and . _ -, found "../x". Write e.g. ipc_name: quarterdeck',
    ],
  ])('%s is refused', (yaml, mistake) => {
    expect(mistakes(yaml)).toEqual([`/etc/q/quarterdeck.yaml:${mistake}`])
  })
})

describe('every setting about agents elsewhere', () => {
  const src = join(import.meta.dirname, '../..')
  const work = 'app/create-supervised-work.ts'
  const rooms = 'supervision/workspace/allowed-workspace.ts'
  const people = 'supervision/sessions/may-command.ts'
  const service = 'supervision/agents-elsewhere.ts'
  const stalls = 'supervision/stalls/create-stalls.ts'
  const told = 'operators/people/person-rules.ts'
  /** The file that reads it. */
  const readers: Record<string, string> = {
    defaultWorkspaceRoot: rooms,
    'workspaces.path': rooms,
    'workspaces.id': rooms,
    'workspaces.channelId': 'supervision/sessions/attach-agent.ts',
    'workspaces.label': 'supervision/sessions/attach-agent.ts',
    'operators.name': people,
    'operators.contacts.slack': 'operators/slack/channel.ts',
    'operators.contacts.ntfy': 'operators/ntfy/create-ntfy.ts',
    'operators.console': people,
    'operators.logins': people,
    'operators.local': people,
    'operators.admin': people,
    'operators.group': people,
    'operators.notify.kinds': told,
    'operators.notify.quietHours': told,
    'operators.notify.digestMs': told,
    'operatorGroups.group': people,
    'operatorGroups.admin': people,
    'escalation.afterMs': people,
    'escalation.to': people,
    'quorum.low': 'domain/supervision/quorum.ts',
    'quorum.high': 'domain/supervision/quorum.ts',
    'quorum.critical': 'domain/supervision/quorum.ts',
    maxConcurrentSessions: service,
    maxConcurrentSessionsTotal: service,
    hostCli: 'config/agent/started-agents.ts',
    hostCliArgs: 'config/agent/started-agents.ts',
    'timeouts.approvalMs': service,
    'timeouts.promptMs': service,
    'timeouts.waitMs': service,
    'stall.enabled': service,
    'stall.inactivityMs': stalls,
    'stall.escalationMs': stalls,
    'stall.maxRetries': stalls,
    'stall.nudgeMessage': stalls,
    'commands.ls': work,
    'slack.channelId': 'app/open-outbox.ts',
    'slack.channels': rooms,
    'modes.agentMaySet': service,
    ipcName: 'app/open-server.ts',
  }

  test('is read by a part of the server', () => {
    const yaml = `
workspaces: [{ path: /srv/shop }]
operators: { people: [{ name: ada, slack: U1, ntfy: t }, { group: sre }], escalation: [{ after: 1m, to: ada }] }
commands: { ls: [ls] }`
    expect(leaves(resolve(yaml)).sort()).toEqual(Object.keys(readers).sort())
    const unread = Object.entries(readers).filter(([key, file]) => {
      const word = key === 'commands.ls' ? 'commands' : (key.split('.').at(-1) ?? '')
      return !new RegExp(`\\b${word}\\b`).test(readFileSync(join(src, file), 'utf8'))
    })
    expect(unread).toEqual([])
  })
})

/** The names of all values, without the places in lists. */
function leaves(value: unknown, path: readonly string[] = []): string[] {
  const isList = Array.isArray(value)
  if (typeof value !== 'object' || value === null || (isList && typeof value[0] !== 'object')) return [path.join('.')]
  const inside = isList ? value.flatMap((one) => leaves(one, path)) : []
  const named = isList ? [] : Object.entries(value).flatMap(([key, one]) => leaves(one, [...path, key]))
  return [...new Set([...inside, ...named])]
}
