// Schemas for the values of the settings about agents that work elsewhere.

import { z } from 'zod'
import type {
  EscalationSettings,
  OperatorGroup,
  OperatorSettings,
  WorkspaceSettings,
} from '../../domain/settings/supervision-settings.ts'
import { ONE_PERSON, type Quorum } from '../../domain/supervision/quorum.ts'
import { USER_NAME } from '../../domain/supervision/user-name.ts'
import { splitCommandLine } from '../../domain/text/command-line.ts'
import { contactKinds } from '../../operators/channels.ts'
import { duration, key, oneOrMore, quorum, reporter, text, twinsIn } from '../source/schema-key.ts'
import { notify, notifySettings, slackChannelId } from './channel-values.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/
const ALIAS = /^[a-z0-9][a-z0-9_-]{0,31}$/

const name = () => z.string().regex(NAME)
const NAME_TEXT = 'a name of up to 64 letters, digits and . _ @ -'

/** Providers have groups such as `/ops/on-call` and `SRE Team`. */
const groupName = () => text().max(200)

/** A folder. `~` is not expanded anywhere in our files, and a folder called `~` is never what is meant. */
export const folder = () => z.string().refine((value) => value.trim() !== '' && !value.startsWith('~'), { error: '' })
export const FOLDER_TEXT = 'a folder, without ~'

const workspace = () =>
  z.strictObject({
    path: key(folder(), 'The folder.', 'projects/shop', FOLDER_TEXT),
    id: key(name(), 'Short name for `quarterdeck mcp --workspace`.', 'shop', NAME_TEXT).optional(),
    channel_id: key(
      slackChannelId(),
      'Slack channel of its sessions; one of `slack.channels`.',
      'C012AB3CD',
    ).optional(),
    label: key(text().max(100), 'Name that people see.', 'The shop').optional(),
  })

export const workspaceList = () =>
  z
    .array(workspace())
    .superRefine((list, context) => reportTwins(list, 'id', reporter(context)))
    .superRefine((list, context) => reportTwins(list, 'path', reporter(context)))
    .transform((list): WorkspaceSettings[] =>
      list.map(({ path, id, channel_id, label }) => ({
        path,
        id: id ?? null,
        channelId: channel_id ?? null,
        label: label ?? null,
      })),
    )

/** A person's address in each channel that has one, under the name of the channel. */
const contactShape: Record<string, z.ZodOptional<z.ZodType<string>>> = Object.fromEntries(
  contactKinds.map(({ name, contact }) => [name, contact.optional()]),
)
/** Their names are not known to the compiler, so they must not hide those of the other keys. */
const contactKeys: object = contactShape
const contactNames = contactKinds.map((kind) => kind.name)

/** A person, or with `group` and without `name` everybody whom an identity provider or a proxy puts into this group. */
const operator = () =>
  z.strictObject({
    name: key(
      name(),
      'Owns sessions under this name. Left out: the entry is for all members of `group`.',
      'ada',
      NAME_TEXT,
    ).optional(),
    logins: key(
      oneOrMore(z.string().regex(USER_NAME)),
      'Names of this person at identity providers, such as corp:ada@example.com.',
      ['corp:ada@example.com'],
      'a name such as corp:ada@example.com, or a list of them',
    ).optional(),
    contacts: key(
      z.strictObject(contactShape),
      'Where channels reach this person, by channel. Each can also stand beside `name`.',
      { slack: 'U012AB3CD' },
      'channels and addresses',
    ).optional(),
    ...contactKeys,
    console: key(
      name(),
      'User of the operator tokens with which this person signs in to the console and the API; `name` if left out.',
      'ada',
      NAME_TEXT,
    ).optional(),
    local: key(z.boolean(), 'Whether this person decides at a terminal of this machine.', true).optional(),
    admin: key(z.boolean(), 'Whether this person may decide for every owner and hand sessions over.', true).optional(),
    group: key(
      groupName(),
      'Group that an escalation can name. Without `name`: a group of an identity provider or a proxy, as they write it.',
      'night',
      'the name of a group',
    ).optional(),
    notify: key(notify(), 'How this person is told by channels of their own, such as Web Push.', {
      quiet_hours: '22:00-07:00',
    }).optional(),
  })

const escalationStep = () =>
  z.strictObject({
    after: duration('How long nobody has answered.', '15m', true),
    to: key(oneOrMore(groupName()), 'Operators or groups who may decide from then on.', ['night'], 'a list of names'),
  })

export interface OperatorsValue {
  people: OperatorSettings[]
  groups: OperatorGroup[]
  escalation: EscalationSettings[]
  quorum: Quorum
}

const people = () =>
  z
    .array(operator())
    .min(1)
    .superRefine((list, context) => {
      const report = reporter(context)
      for (const one of ['name', 'console'] as const) reportTwins(list, one, report)
      for (const one of contactNames) reportTwins(list.map(contactsOf), one, report)
      const ofGroups = list.map((one) => (one.name === undefined ? { group: one.group } : {}))
      reportTwins(ofGroups, 'group', report)
      const logins = list.flatMap((one, index) => (one.logins ?? []).map((login) => ({ index, login })))
      for (const { index, login } of logins) {
        const first = logins.find((other) => other.login === login)
        if (first === undefined || first.index === index) continue
        report([index, 'logins'], `entry ${first.index + 1} already has the login ${JSON.stringify(login)}.`)
      }
      for (const [index, one] of list.entries()) {
        if (one.name !== undefined) continue
        const { group, admin: _, ...rest } = one
        const [other] = Object.keys(rest)
        if (group === undefined) report([index, 'name'], 'an operator needs a name, or a group.')
        else if (other !== undefined) report([index, other], 'an entry for a group has only group and admin.')
      }
      const locals = list.flatMap(({ local }, index) => (local === true ? [index] : []))
      for (const index of locals.slice(1)) {
        report([index, 'local'], 'only one operator can be local, because one passphrase guards this machine.')
      }
    })

/** The list of operators alone, or the list with the rules for their decisions. */
export const operators = () =>
  z
    .union([
      people(),
      z.strictObject({
        people: key(people(), 'The operators.', [{ name: 'ada' }]),
        escalation: key(
          z.array(escalationStep()).max(20),
          'Who else may decide when nobody answers.',
          [{ after: '15m', to: ['night'] }],
          'a list of steps with after and to',
        ).optional(),
        quorum: quorum('How many operators must say yes.').optional(),
      }),
    ])
    .transform((value): OperatorsValue => {
      const {
        people: list,
        escalation = [],
        quorum: needed = ONE_PERSON,
      } = Array.isArray(value) ? { people: value } : value
      return {
        people: list.flatMap((one) =>
          one.name === undefined
            ? []
            : {
                name: one.name,
                contacts: contactsOf(one),
                console: one.console ?? null,
                logins: one.logins ?? [],
                local: one.local ?? false,
                admin: one.admin ?? false,
                group: one.group ?? null,
                notify: notifySettings(one.notify),
              },
        ),
        groups: list.flatMap(({ name: person, group, admin = false }) =>
          person === undefined && group !== undefined ? { group, admin } : [],
        ),
        escalation: escalation
          .map(({ after, to }) => ({ afterMs: after * 1000, to }))
          .toSorted((a, b) => a.afterMs - b.afterMs),
        quorum: needed,
      }
    })

const contactsOf = ({ contacts = {}, ...operator }: { contacts?: object | undefined }): Record<string, string> => {
  const all: object = { ...operator, ...contacts }
  return Object.fromEntries(Object.entries(all).filter(([name]) => contactNames.includes(name)))
}

/** Two entries with the same value under a key where each must have its own. */
function reportTwins<K extends string>(
  list: readonly Partial<Record<K, unknown>>[],
  name: K,
  report: ReturnType<typeof reporter>,
): void {
  for (const { index, first } of twinsIn(list, (one) => one[name])) {
    report([index, name], `entry ${first + 1} already has the ${name} ${JSON.stringify(list[index]?.[name])}.`)
  }
}

const argument = () => z.string().refine((value) => !value.includes('\0'), { error: '' })

export const argumentList = () => z.array(argument())

/** Aliases and their command lines. That a program exists is checked at the start, because it may be missing on this machine. */
export const commandLines = () =>
  z
    .record(
      z.string().regex(ALIAS),
      z.union([
        z.string().superRefine((line, context) => {
          const split = splitCommandLine(line)
          if (!split.ok) {
            reporter(context)(
              [],
              `commands run without a shell, and this line cannot: ${split.problem}. Put it into a script, or write a list of arguments.`,
            )
          }
        }),
        argumentList().refine((list) => (list[0] ?? '').trim() !== '', { error: '' }),
      ]),
    )
    .transform((value): Readonly<Record<string, string | readonly string[]>> => value)

/** The last part of a socket's path: short, because such a path has a limit of about 100 bytes. */
export const socketName = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/)
    .transform((value): string | null => value)
