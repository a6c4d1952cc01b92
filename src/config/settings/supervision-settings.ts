// The settings about agents that work elsewhere. They have no flags: people set them once, in quarterdeck.yaml. What decides who may
// answer and which programs run has no variable either, because the environment may come from a `.env` that an agent can write.

import { z } from 'zod'
import type { SupervisionSettings, WorkspaceSettings } from '../../domain/settings/supervision-settings.ts'
import { mostNeeded, ONE_PERSON } from '../../domain/supervision/quorum.ts'
import { contactKinds } from '../../operators/channels.ts'
import { count, text } from '../source/schema-key.ts'
import { notifySettings, slackUserId } from './channel-values.ts'
import { fileSetting, setting } from './setting.ts'
import { timeSpan, toggle } from './setting-values.ts'
import type { ReadSetting, SettingKey } from './settings.ts'
import {
  argumentList,
  commandLines,
  FOLDER_TEXT,
  folder,
  type OperatorsValue,
  operators,
  socketName,
  workspaceList,
} from './supervision-values.ts'

const CONTACTS = contactKinds.map(({ name }) => `\`${name}\``).join(', ')

const NUDGE =
  'Are you still working? Call heartbeat with your progress. If you need a person, call forward_prompt. If you are done, say so.'

const seconds = (description: string, value: number, zero = false) =>
  setting({ ...timeSpan(value, zero), description, example: value })

export const supervisionTable = {
  default_workspace_root: setting<string | null>({
    schema: folder(),
    description: 'Supervised agents may work in every folder below this one.',
    expected: FOLDER_TEXT,
    example: '/home/ada/projects',
    default: null,
    path: true,
  }),
  workspaces: fileSetting<WorkspaceSettings[]>({
    schema: workspaceList(),
    description:
      'Folders in which supervised agents may work, with `path`, `id`, `channel_id` and `label`. Refused: `/`, the home folder, and folders that overlap the config, data or runtime folder of the server.',
    expected: 'a list of folders, each with a path',
    example: [{ path: 'projects/shop', id: 'shop' }],
    default: [],
    path: true,
  }),
  operators: fileSetting<OperatorsValue>({
    schema: operators(),
    description: `People who decide: a list with \`name\`, ${CONTACTS}, \`notify\`, \`console\`, \`logins\`, \`local\`, \`admin\` and \`group\` (without \`name\`: all its members); or \`people\` with that list, \`escalation\` (who decides after a while) and \`quorum\` (how many must say yes). A sole operator is also \`local\`.`,
    expected: 'a list of operators, each with a name or a group, or keys with people, escalation and quorum',
    example: [{ name: 'ada', slack: 'U012AB3CD', admin: true }],
    default: { people: [], groups: [], escalation: [], quorum: ONE_PERSON },
    defaultText: 'one, called `local_user`',
  }),
  authorized_user_ids: fileSetting<string[]>({
    schema: z.array(slackUserId()),
    description: 'Short for operators who are only in Slack: the ids of these users. Each id is also the name.',
    expected: 'a list of ids of Slack users, such as U012AB3CD',
    example: ['U012AB3CD'],
    default: [],
  }),
  max_concurrent_sessions: setting({
    schema: count().max(1000),
    description: 'Supervised sessions that one owner may have open at the same time; the next one is refused.',
    example: 3,
    default: 3,
  }),
  max_concurrent_sessions_total: setting({
    schema: count()
      .max(100_000)
      .transform((value): number | null => value),
    description:
      'Supervised sessions that all owners together may have open at the same time; the next one is refused.',
    expected: 'a whole number between 1 and 100,000',
    example: 20,
    default: null,
    defaultText: 'no limit',
  }),
  host_cli: fileSetting({
    schema: text().transform((value): string | null => value),
    description:
      'The coding agent that `quarterdeck ctl start` starts if nobody says which: `claude`, `codex`, `copilot`, `gemini`, or the path of a program that speaks the Agent Client Protocol.',
    expected: 'a host or a program',
    example: 'claude',
    default: null,
    defaultText: 'the only one that is installed',
  }),
  host_cli_args: fileSetting<string[]>({
    schema: argumentList(),
    description: 'Further arguments of `host_cli`.',
    expected: 'a list of arguments',
    example: ['--model', 'opus'],
    default: [],
  }),
  'timeouts.approval_seconds': seconds(
    'How long a request for approval of a supervised agent waits before it expires.',
    3600,
  ),
  'timeouts.prompt_seconds': seconds(
    'How long a question of a supervised agent waits before the server answers it: continue or stop.',
    1800,
  ),
  'timeouts.wait_seconds': seconds('How long a supervised agent waits for an instruction; 0 = for ever.', 0, true),
  'stall.enabled': setting({
    schema: z.boolean(),
    description: 'Watch supervised agents for silence.',
    example: true,
    default: true,
  }),
  'stall.inactivity_threshold_seconds': seconds('Silence of a supervised agent after which an alert is made.', 300),
  'stall.escalation_threshold_seconds': seconds(
    'Time from an alert to the first automatic nudge, and from each nudge to the next.',
    120,
  ),
  'stall.max_retries': setting({
    schema: count(0).max(100),
    description: 'Automatic nudges before an alert is escalated.',
    example: 3,
    default: 3,
  }),
  'stall.default_nudge_message': setting({
    schema: text().max(4000).meta({ prose: true }),
    description: 'What a nudge tells the agent.',
    expected: 'text of at most 4000 characters',
    example: 'Are you still working?',
    default: NUDGE,
  }),
  commands: fileSetting<Readonly<Record<string, string | readonly string[]>>>({
    schema: commandLines(),
    description:
      'Commands that operators may run in a workspace, by alias. A list of arguments, or text that is split without a shell. The program must lie outside all workspaces. A command such as npm test runs what the agent wrote.',
    expected: 'aliases (lower-case letters, digits, - and _) with command lines',
    example: { status: 'git status --short', test: ['npm', 'test'] },
    default: {},
  }),
  'modes.agent_may_set': setting({
    ...toggle(true),
    description: 'Whether a supervised agent may choose where its operator is asked: remote, local or hybrid.',
  }),
  ipc_name: setting({
    schema: socketName(),
    description: 'Name of the local socket that `quarterdeck ctl` uses.',
    expected: 'up to 32 letters, digits and . _ -',
    example: 'quarterdeck',
    default: null,
    defaultText: 'made from the data directory',
  }),
}

/** `localUser` is the name of the operator where none is set: the user of the tokens that name nobody. */
export function assembleSupervision(read: ReadSetting, localUser: string): SupervisionSettings {
  const { people, groups, escalation, quorum } = read('operators')
  const wait = read('timeouts.wait_seconds')
  const channelId = read('slack.channel_id')
  return {
    defaultWorkspaceRoot: read('default_workspace_root'),
    workspaces: read('workspaces'),
    operators: allOperators(people, read('authorized_user_ids'), groups.length === 0, localUser),
    operatorGroups: groups,
    escalation,
    quorum,
    maxConcurrentSessions: read('max_concurrent_sessions'),
    maxConcurrentSessionsTotal: read('max_concurrent_sessions_total'),
    hostCli: read('host_cli'),
    hostCliArgs: read('host_cli_args'),
    timeouts: {
      approvalMs: read('timeouts.approval_seconds') * 1000,
      promptMs: read('timeouts.prompt_seconds') * 1000,
      waitMs: wait === 0 ? null : wait * 1000,
    },
    stall: {
      enabled: read('stall.enabled'),
      inactivityMs: read('stall.inactivity_threshold_seconds') * 1000,
      escalationMs: read('stall.escalation_threshold_seconds') * 1000,
      maxRetries: read('stall.max_retries'),
      nudgeMessage: read('stall.default_nudge_message'),
    },
    commands: read('commands'),
    slack: {
      channelId,
      channels: [...new Set([...(channelId === null ? [] : [channelId]), ...read('slack.channels')])],
    },
    modes: { agentMaySet: read('modes.agent_may_set') },
    ipcName: read('ipc_name'),
  }
}

const nobody = {
  contacts: {},
  console: null,
  logins: [],
  local: false,
  admin: false,
  group: null,
  notify: notifySettings(undefined),
}

function allOperators(
  people: OperatorsValue['people'],
  slackIds: readonly string[],
  hasNoGroups: boolean,
  localUser: string,
): OperatorsValue['people'] {
  const inSlack = [...new Set(slackIds)]
    .filter((id) => !people.some(({ contacts }) => contacts.slack === id))
    .map((id) => ({ ...nobody, name: id, contacts: { slack: id } }))
  const all = [...people, ...inSlack]
  const [only] = all
  if (only === undefined) {
    return [{ ...nobody, name: localUser, local: true, admin: true }]
  }
  return all.length === 1 && hasNoGroups ? [{ ...only, local: true }] : all
}

/** Mistakes that only show when several settings are read together. */
export function checkSupervision(
  { workspaces, slack, operators: all, operatorGroups, escalation, quorum }: SupervisionSettings,
  refuse: (key: SettingKey, message: string) => void,
): void {
  for (const { path, channelId } of workspaces) {
    if (channelId === null || slack.channels.includes(channelId)) continue
    refuse('workspaces', `${path} uses the Slack channel ${channelId}. Add it to slack.channels.`)
  }
  const names = all.map(({ name }) => name)
  const twin = names.find((name, index) => names.indexOf(name) < index)
  if (twin !== undefined) refuse('authorized_user_ids', `an operator with another Slack id is already called ${twin}.`)
  const groups = operatorGroups.map(({ group }) => group)
  const targets = new Set([...names, ...groups, ...all.map(({ group }) => group)])
  for (const unknown of escalation.flatMap(({ to }) => to).filter((target) => !targets.has(target))) {
    refuse('operators', `escalation names ${JSON.stringify(unknown)}, but no operator and no group is called that.`)
  }
  const needed = mostNeeded(quorum)
  // Nobody here knows how many members a group has.
  if (operatorGroups.length > 0) return
  if (needed > all.length) {
    refuse('operators', `quorum asks for ${needed} operators, and there are only ${all.length}. Add some, or lower it.`)
  } else if (needed > mostDeciders(all, escalation)) {
    refuse(
      'operators',
      `quorum asks for ${needed} yeses, but besides the owner of a session too few may decide. Make others admins, or name them in escalation.`,
    )
  }
}

/** How many people may decide about the same session, at most: its owner, admins, and those whom the escalation names. */
function mostDeciders(all: SupervisionSettings['operators'], escalation: SupervisionSettings['escalation']): number {
  const named = new Set(escalation.flatMap(({ to }) => to))
  const others = all.filter(
    ({ name, admin, group }) => admin || named.has(name) || (group !== null && named.has(group)),
  )
  return Math.min(others.length + 1, all.length)
}
