// What an agent elsewhere did, told in plain words: of its calls those that say something, everything else folded. Made of the transcript,
// so it may begin in the middle too.

import type { EventInterrupt } from 'quarterdeck/client'
import { isRecord } from '../../../../../src/domain/is-record.ts'
import type { ActivityItem, ToolItem, TranscriptItem } from '../../../data/transcript.ts'
import { duration } from '../../../parts/Time.tsx'
import { counted, sentence } from '../../../words.ts'

type Common = Pick<TranscriptItem, 'key' | 'seq' | 'at'>

/** In our own words. `quote` is what an agent, a program or a person said. */
export interface Line extends Common {
  type: 'line'
  about: 'start' | 'file' | 'note' | 'progress' | 'person' | 'wait' | 'warning' | 'checkpoint' | 'end'
  words: string
  quote: string | null
}

export interface Calls extends Common {
  type: 'calls'
  calls: ToolItem[]
}

export interface Asked extends Common {
  type: 'question'
  interrupt: EventInterrupt
  words: string
}

export type StoryRow = Line | Calls | Asked | (Common & { type: 'other'; item: TranscriptItem })

export function storyOf(items: readonly TranscriptItem[]): StoryRow[] {
  const answers = answersIn(items)
  const asked = new Set(items.flatMap((item) => (item.type === 'question' ? [item.interrupt.toolCallId] : [])))
  const calls = new Map(items.flatMap((item) => (item.type === 'tool' ? [[item.callId, item]] : [])))
  const rows: StoryRow[] = []
  for (const item of items) {
    const { key, seq, at } = item
    const line = (about: Line['about'], words: string, quote: unknown = null): void => {
      rows.push({ key, seq, at, type: 'line', about, words, quote: textOr(quote) })
    }
    if (item.type === 'question') {
      const call = calls.get(item.interrupt.toolCallId ?? '')
      const words = answerWords(at, answers.get(item.interrupt.id), call)
      rows.push({ key, seq, at: call?.at ?? at, type: 'question', interrupt: item.interrupt, words })
    } else if (item.type === 'end') {
      const last = rows.at(-1)
      if (last?.type !== 'line' || last.about !== 'end') line('end', item.how === 'failed' ? item.message : 'Ended.')
    } else if (item.type === 'activity') {
      const told = activityWords(item)
      if (told === undefined) rows.push({ key, seq, at, type: 'other', item })
      else if (told !== null) line(...told)
    } else if (item.type === 'tool') {
      const told = asked.has(item.callId) ? null : toldOf(item)
      const last = rows.at(-1)
      if (told !== undefined) told !== null && line(...told)
      else if (last?.type === 'calls') last.calls.push(item)
      else rows.push({ key: `calls:${key}`, seq, at, type: 'calls', calls: [item] })
    } else {
      rows.push({ key, seq, at, type: 'other', item })
    }
  }
  return rows
}

type Told = [about: Line['about'], words: string, quote?: unknown]

const record = (json: string | null): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(json ?? '')
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

const textOr = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null)
const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : [])
const by = (content: Record<string, unknown>): string => (textOr(content.by) === null ? '' : ` by ${content.by}`)

/** A long session is told again with each event, and most of it has not changed. */
const known = new WeakMap<ToolItem, Told | null | undefined>()

function toldOf(call: ToolItem): Told | null | undefined {
  if (!known.has(call)) known.set(call, callWords(call))
  return known.get(call)
}

/** Undefined: the call says nothing by itself. Null: something else tells it. */
function callWords({ name, args, result, status, at, endedAt }: ToolItem): Told | null | undefined {
  const [given, got] = [record(args), record(result)]
  const took = at !== null && endedAt !== null ? duration(endedAt - at) : null
  if (name === 'heartbeat') {
    const steps = list(given.progress_snapshot)
    const note = textOr(given.status_message)
    if (steps.length === 0) return note === null ? undefined : ['note', 'The agent says', note]
    const count = steps.filter((step) => step.status === 'done').length
    const now = steps.filter((step) => step.status === 'in_progress').map(({ label }) => label)
    const going = now.length === 0 ? '' : ` Now: ${now.join(', ')}.`
    return ['progress', `${count} of ${counted(steps.length, 'step')} done.${going}`, note]
  }
  if (name === 'remote_log') {
    const isBad = given.level === 'error' || given.level === 'warning'
    return [isBad ? 'warning' : 'note', isBad ? 'The agent warns' : 'The agent says', given.message]
  }
  if (name === 'accept_diff' && got.status === 'applied') {
    return [
      'file',
      `Wrote ${
        list(got.files_written)
          .map(({ path }) => path)
          .join(', ') || 'the approved change'
      }.`,
    ]
  }
  if (name === 'ask_approval' && got.status === 'approved') {
    return ['file', `May change ${given.file_path ?? 'a file'}: a rule allows it.`, given.title]
  }
  if (name === 'wait_for_instruction') {
    if (status === 'running' || status === 'waiting') return ['wait', 'Waits for an instruction.', given.message]
    const waited = took === null ? 'Waited' : `Waited ${took}`
    const word = textOr(got.instruction)
    return ['wait', `${waited} for an instruction${word === null ? ', and none came.' : ', and got:'}`, word]
  }
  if (name === 'set_operational_mode') return null
  if (status === 'failed') return ['warning', 'The server refused a call of the agent.', got.error_message ?? result]
  return undefined
}

const SHOWN = 3
const NAME_CHARS = 60
const LOOKED_AT = 200

/** `Works on a.ts and b.ts, runs npm test`: what the agent asked its rules for. */
export function workWords(calls: readonly ToolItem[]): string {
  const inputs = calls
    .slice(0, LOOKED_AT)
    .map(({ args }) => record(args))
    .map(({ input, context }) => (isRecord(input) ? input : context))
  const named = (name: string) => [
    ...new Set(inputs.flatMap((input) => (isRecord(input) ? (textOr(input[name]) ?? []) : []))),
  ]
  const [files, commands] = [named('file_path'), named('command')]
  const some = (all: string[]) => {
    const shown = all.slice(0, SHOWN).map((one) => (one.length > NAME_CHARS ? `${one.slice(0, NAME_CHARS)}…` : one))
    return shown.join(', ') + (all.length > SHOWN ? ` and ${all.length - SHOWN} more` : '')
  }
  const parts = [
    files.length === 0 ? '' : `works on ${some(files)}`,
    commands.length === 0 ? '' : `runs ${some(commands)}`,
  ].filter((part) => part !== '')
  const text = parts.length === 0 ? 'goes on working' : parts.join(', ')
  return `${sentence(text)}.`
}

interface Answer {
  by: unknown
  decision: unknown
  at: number | null
}

const answersIn = (items: readonly TranscriptItem[]): ReadonlyMap<unknown, Answer> =>
  new Map(
    items.flatMap((item) =>
      item.type === 'activity' && item.name === 'decision'
        ? [[item.content.approval_id, { ...item.content, at: item.at } as unknown as Answer]]
        : [],
    ),
  )

const decisions: Readonly<Record<string, string>> = {
  approved: 'said yes',
  rejected: 'said no',
  expired: 'let it pass',
}

/** `Waited 4 min for an answer. ada said yes.` */
function answerWords(from: number | null, answer: Answer | undefined, call: ToolItem | undefined): string {
  const at = answer?.at ?? call?.endedAt ?? null
  if (answer === undefined && call?.result == null) return 'Waits for an answer.'
  const waited = from === null || at === null ? '' : `Waited ${duration(at - from)} for an answer.`
  const who = answer === undefined ? '' : ` ${answer.by} ${decisions[String(answer.decision)] ?? answer.decision}.`
  return waited + who
}

/** Undefined: not known to us, so it is shown as it is. Null: something else tells it. */
export function activityWords({ name, content }: Pick<ActivityItem, 'name' | 'content'>): Told | null | undefined {
  const minutes = (seconds: unknown) => duration(Number(seconds ?? 0) * 1_000)
  switch (name) {
    case 'progress':
    case 'decision':
    case 'command_output':
      return null
    case 'summary':
      return ['note', `The agent reads notes of ${counted(Number(content.messages), 'older message')} from here on.`]
    case 'host_started':
      return ['start', `${content.host} was started${content.sandboxed === true ? ' in a sandbox' : ''}.`]
    case 'host_restarts':
      return ['warning', 'The program ended and is started again.', content.end]
    case 'checkpoint':
    case 'checkpoint_before_restore': {
      const why = name === 'checkpoint' ? '' : ' before going back to an earlier one'
      return [
        'checkpoint',
        `Checkpoint of ${counted(Number(content.files), 'file')}${by(content)}${why}.`,
        content.label,
      ]
    }
    case 'steering':
      return ['person', `${content.by} told the agent`, content.text]
    case 'task':
      return ['person', `${content.by} gave the next task`, content.text]
    case 'nudge':
      return ['wait', `Reminded the agent${by(content)}.`, content.message]
    case 'stall':
      return ['warning', `Nothing was heard from the agent for ${minutes(content.idle_seconds)}.`]
    case 'stall_escalated':
      return ['warning', 'It stayed silent after all reminders. A person has to look.']
    case 'escalated':
      return ['wait', `No answer for ${minutes(content.waited_seconds)}, so ${content.escalated_to} was asked too.`]
    case 'stalls_on':
    case 'stalls_off':
      return ['person', `Alarms about silence turned ${name === 'stalls_on' ? 'on' : 'off'}${by(content)}.`]
    case 'yes':
      return ['person', `${content.by} said yes: ${content.yeses} of ${content.needed}.`]
    case 'edited':
      return ['person', `${content.by} changed what was asked for.`]
    case 'auto_approved':
      return ['note', 'Rules allowed this without asking.', content.summary]
    case 'policy_warning':
      return ['warning', 'The rules of this folder need a look.', content.warning]
    case 'mode':
      return ['note', `Questions go ${modes[String(content.to)] ?? content.to} now${by(content)}.`]
    case 'paused':
    case 'resumed':
      return ['person', `${name === 'paused' ? 'Paused' : 'Went on'}${by(content)}.`]
    case 'handed_over':
      return ['person', `Handed over from ${content.from} to ${content.to}${by(content)}.`]
    case 'command':
      return ['person', `${content.by} ran ${content.alias}.`]
    case 'command_ended': {
      const how = content.exit_code === 0 ? 'worked' : 'failed'
      return [content.exit_code === 0 ? 'note' : 'warning', `${content.alias} ${how}.`]
    }
    case 'terminated':
    case 'interrupted':
      return ['end', name === 'terminated' ? `Ended${by(content)}.` : 'Broken off. It can come back.', content.reason]
    default:
      return undefined
  }
}

const modes: Readonly<Record<string, string>> = {
  local: 'to this machine',
  remote: 'to the chat and to phones',
  hybrid: 'to this machine, the chat and phones',
}
