// The kinds of records as a table: who asks and who answers, which status follows which, what is still open, and how each is
// called on the wire. The types of records, the SQL of the stores, routes and figures read it.

import type { NotifyKind } from '../settings/channel-settings.ts'
import { type WireNames, wireNames } from './wire-names.ts'

interface KindRules {
  /** `server`: it noticed something by itself. Then no agent waits for the answer, and a session has one of these at a time. */
  askedBy: 'agent' | 'server'
  answeredBy: 'person' | 'client'
  /** The statuses, and which may follow each. */
  next: Readonly<Record<string, readonly string[]>>
  /** The statuses in which it still wants an answer. */
  open: readonly string[]
  /** What it becomes when its run or session ends without an answer. */
  unanswered: string
  /** What a person can answer while it is open, in the order in which it is shown. With an approval it depends on what is to be approved. */
  actions: readonly string[] | Readonly<Record<string, readonly string[]>>
  /** The word of people's settings for being told of it; null: nobody is told. */
  notify: NotifyKind | null
  /** Null: it is not sent as a record. */
  wire: WireNames | null
}

export const recordKinds = {
  /**
   * `answered`: a person gave the result in the tool's place, or the answer to a question. A question is never approved. `approved`
   * becomes `interrupted` if the run that received the approval ended without making the call.
   */
  approval: {
    askedBy: 'agent',
    answeredBy: 'person',
    next: {
      pending: ['approved', 'rejected', 'answered', 'expired', 'interrupted'],
      approved: ['consumed', 'interrupted'],
      rejected: [],
      answered: [],
      expired: [],
      interrupted: [],
      consumed: [],
    },
    open: ['pending'],
    unanswered: 'interrupted',
    actions: {
      tool_call: ['approve', 'edit', 'reject'],
      question: ['answer', 'reject'],
      diff: ['approve', 'edit', 'reject'],
      permission: ['approve', 'edit', 'reject'],
      changes: ['approve', 'edit', 'reject'],
      policy: ['approve', 'reject'],
    },
    notify: 'approval',
    wire: wireNames.approval,
  },
  client_call: {
    askedBy: 'agent',
    answeredBy: 'client',
    next: { pending: ['answered', 'expired', 'interrupted'], answered: [], expired: [], interrupted: [] },
    open: ['pending'],
    unanswered: 'interrupted',
    actions: [],
    notify: null,
    wire: null,
  },
  prompt: {
    askedBy: 'agent',
    answeredBy: 'person',
    next: { pending: ['decided', 'interrupted'], decided: [], interrupted: [] },
    open: ['pending'],
    unanswered: 'interrupted',
    actions: ['continue', 'refine', 'stop'],
    notify: 'prompt',
    wire: wireNames.prompt,
  },
  standby: {
    askedBy: 'agent',
    answeredBy: 'person',
    next: { pending: ['resumed', 'timeout', 'interrupted'], resumed: [], timeout: [], interrupted: [] },
    open: ['pending'],
    unanswered: 'interrupted',
    actions: ['resume', 'stop'],
    notify: 'wait',
    wire: wireNames.standby,
  },
  alert: {
    askedBy: 'server',
    answeredBy: 'person',
    next: {
      pending: ['nudged', 'self_recovered', 'escalated', 'dismissed'],
      nudged: ['self_recovered', 'escalated', 'dismissed'],
      self_recovered: [],
      escalated: ['self_recovered', 'dismissed'],
      dismissed: [],
    },
    open: ['pending', 'nudged', 'escalated'],
    unanswered: 'dismissed',
    actions: ['nudge', 'dismiss', 'stop'],
    notify: 'stall',
    wire: wireNames.alert,
  },
} as const satisfies Record<string, KindRules>

type Table = typeof recordKinds
export type RecordKind = keyof Table
export type StatusOf<Kind extends RecordKind> = Kind extends RecordKind ? keyof Table[Kind]['next'] : never

// Every status that a row names is one of its own.
recordKinds satisfies {
  [Kind in RecordKind]: {
    next: Readonly<Record<string, readonly StatusOf<Kind>[]>>
    open: readonly StatusOf<Kind>[]
    unanswered: StatusOf<Kind>
    wire: { words: { [Status in StatusOf<Kind>]?: string } } | null
  }
}

type KindWith<Facts> = { [Kind in RecordKind]: Table[Kind] extends Facts ? Kind : never }[RecordKind]
export type PersonKind = KindWith<{ answeredBy: 'person' }>
export type AskedKind = KindWith<{ askedBy: 'agent' }>

export type ApprovalKind = keyof Table['approval']['actions']
export type ActionName =
  | Table['approval']['actions'][ApprovalKind][number]
  | Table[Exclude<PersonKind, 'approval'>]['actions'][number]

export const allKinds = Object.keys(recordKinds) as readonly RecordKind[]
export const personKinds = allKinds.filter((kind): kind is PersonKind => recordKinds[kind].answeredBy === 'person')

/** What a person can answer at all. */
export const actionNames = [
  ...new Set(personKinds.flatMap((kind) => Object.values(recordKinds[kind].actions).flat())),
] as [ActionName, ...ActionName[]]

export const statusesOf = <Kind extends RecordKind>(kind: Kind): readonly StatusOf<Kind>[] =>
  Object.keys(recordKinds[kind].next) as StatusOf<Kind>[]

/** Open statuses of all kinds. One that is open is open in every kind that has it. */
export const openRecordStatuses: readonly string[] = [
  ...new Set(allKinds.flatMap((kind) => [...recordKinds[kind].open])),
]

/** Statuses of all kinds after which another can come. */
export const unsettledStatuses: readonly string[] = [
  ...new Set(
    allKinds.flatMap((kind) =>
      Object.entries(recordKinds[kind].next).flatMap(([one, next]) => (next.length > 0 ? [one] : [])),
    ),
  ),
]

type WireKind = Table[PersonKind]['wire']['kind']
export const wireKinds: readonly WireKind[] = personKinds.map((kind) => recordKinds[kind].wire.kind)

/** `a, b or c`, for descriptions that name all kinds. */
export const anyOf = (names: readonly string[]): string =>
  [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((part) => part !== '').join(' or ')

type Words<Kind extends PersonKind> = Table[Kind]['wire']['words']
export type WireStatusOf<Kind extends PersonKind> = Kind extends PersonKind
  ? Exclude<StatusOf<Kind>, keyof Words<Kind>> | Words<Kind>[keyof Words<Kind>]
  : never

export const wireStatus = <Kind extends PersonKind>(kind: Kind, status: StatusOf<PersonKind>): WireStatusOf<Kind> => {
  const words: Readonly<Record<string, string>> = recordKinds[kind].wire.words
  return (words[status] ?? status) as WireStatusOf<Kind>
}

export const wireStatusesOf = <Kind extends PersonKind>(kind: Kind): readonly WireStatusOf<Kind>[] =>
  statusesOf(kind).map((status) => wireStatus(kind, status))
