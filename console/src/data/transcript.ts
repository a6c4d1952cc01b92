// Makes a conversation out of the events of a session. Events may come in pieces: an early page may be missing, so a message can begin
// in the middle. What did not change keeps its identity, so that React draws only what did.

import type { EventInterrupt, RunEvent } from 'quarterdeck/client'
import { isRecord } from '../../../src/domain/is-record.ts'
import { given } from '../given.ts'
import { type Forks, NOT_LOADED, pathTo } from './branches.ts'
import type { LogEvent } from './live-types.ts'

interface Common {
  key: string
  /** Number of the first event that belongs to it. */
  seq: number
  at: number | null
  runId: string | null
  /** The sub-agent that it happened in. */
  subagent: string | null
}

/** A file in a message: an address of the server, or bytes. */
export interface MessageFile {
  name: string
  mimeType: string | null
  fileId: string | null
}

export interface UserItem extends Common {
  type: 'user'
  text: string
  files: MessageFile[]
}

export interface AnswerItem extends Common {
  type: 'answer'
  text: string
  isDone: boolean
  /** The model that was tried for it in the place of the agent's own. */
  tried?: string
  /** It stopped half-way, and the agent began again. */
  isBrokenOff: boolean
  /** Its beginning is on a page that is not loaded. */
  isHeadless: boolean
  /** What it cites: the content of the activity `SOURCES`. */
  cites?: ActivityItem['content']
}

export interface ReasoningItem extends Common {
  type: 'reasoning'
  text: string
  isDone: boolean
  endedAt: number | null
}

export interface ToolItem extends Common {
  type: 'tool'
  callId: string
  name: string
  /** JSON text, as far as it has come. */
  args: string
  /** Null: there is none yet. */
  result: string | null
  status: 'preparing' | 'running' | 'waiting' | 'done' | 'failed' | 'stopped'
  endedAt: number | null
  /** As measured by whoever ran it. Null: not known. */
  durationMs: number | null
}

/** The run stopped to ask a person. `id` is the id of the approval. */
interface QuestionItem extends Common {
  type: 'question'
  interrupt: EventInterrupt
}

/** How a run ended, if not with an answer. */
export interface EndItem extends Common {
  type: 'end'
  how: 'failed' | 'cancelled'
  message: string
  code: string | null
  /** Its message was taken out of the queue, and there is nothing to try again. */
  isWithdrawn: boolean
}

/** What a tool or an agent elsewhere shows beside the conversation. A later state takes the place of an earlier one. */
export interface ActivityItem extends Common {
  type: 'activity'
  name: string
  content: Record<string, unknown>
}

/** Something else that is worth a line: a sub-agent began, an event of the agent itself. */
interface NoteItem extends Common {
  type: 'note'
  name: string
  text: string
}

export type TranscriptItem =
  | UserItem
  | AnswerItem
  | ReasoningItem
  | ToolItem
  | QuestionItem
  | EndItem
  | ActivityItem
  | NoteItem

export interface Transcript {
  /** Of all branches, in the order of the log. */
  items: readonly TranscriptItem[]
  forks: Forks
  /** Key of the last item of the conversation as it stands. */
  end: string | null
  /** The run that is in progress, or null. */
  activeRun: string | null
  /** What the last run stopped to ask, if none has begun since. */
  questions: readonly EventInterrupt[]
  /** The model that the last run tries in the place of the agent's own. Null: none. */
  tried: string | null
}

/** Everything that a fold knows. It never changes, so a fold can begin with it as often as one likes. */
export interface FoldState extends Transcript {
  open: readonly string[]
  /** Which item shows a message, by the id of the message. */
  messages: ReadonlyMap<string, string>
}

export function createTranscriptFold(from?: FoldState) {
  const items: TranscriptItem[] = [...(from?.items ?? [])]
  let activeRun: string | null = from?.activeRun ?? null
  let questions: readonly EventInterrupt[] = from?.questions ?? []
  let tried: string | null = from?.tried ?? null
  let end: string | null = from?.end ?? null
  const forks = new Map(from?.forks)
  /** The last run that left what followed a message. */
  let branchedBy: string | null = null
  const messages = new Map(from?.messages)
  let hasChanged = true
  let shown: Transcript = { items: [], forks, end, activeRun: null, questions: [], tried }
  /** Where an item is, by its key. */
  const places = new Map<string, number>(items.map(({ key }, place) => [key, place]))
  /** Keys of what the run in progress has begun. */
  const open = new Set<string>(from?.open)

  function put(item: TranscriptItem): void {
    if (places.has(item.key)) return
    places.set(item.key, items.length)
    if (end !== (items.at(-1)?.key ?? null)) forks.set(item.key, end)
    end = item.key
    items.push(item)
    if (item.type === 'answer' || item.type === 'reasoning' || item.type === 'tool') open.add(item.key)
  }

  function change<T extends TranscriptItem>(key: string, type: T['type'], next: (item: T) => T): void {
    const place = places.get(key)
    const item = place === undefined ? undefined : items[place]
    if (place === undefined || item === undefined || item.type !== type) return
    items[place] = next(item as T)
  }

  function add({ seq, at, event }: LogEvent): void {
    hasChanged = true
    const common = {
      seq,
      at,
      runId: activeRun,
      subagent: 'subagentRunId' in event ? (event.subagentRunId ?? null) : null,
    }
    apply(event, common)
  }

  /** Text may begin in the middle, if the page with its beginning is not loaded. */
  function text(key: string, type: 'answer' | 'reasoning', delta: string, common: Omit<Common, 'key'>): void {
    messages.set(key.slice(type.length + 1), key)
    if (type === 'answer')
      put({
        key,
        type,
        text: '',
        isDone: false,
        isBrokenOff: false,
        isHeadless: delta !== '',
        ...common,
        ...given({ tried }),
      })
    else put({ key, type, text: '', isDone: false, endedAt: null, ...common })
    if (delta === '') return
    change<AnswerItem | ReasoningItem>(key, type, (item) => ({ ...item, text: item.text + delta }))
  }

  /**
   * The run leaves what follows this message. The same rule as the server's: a message that was left in the meantime is not one to leave,
   * and the last message of the user gets the other answer.
   */
  function branch(after: string, bringsMessage: boolean): void {
    const path = pathTo({ items, forks }, end)
    const key = messages.get(after)
    let place = path.findIndex((item) => item.key === key)
    if (after !== '' && place === -1) {
      if (key === undefined) end = NOT_LOADED
      if (key === undefined || bringsMessage) return
      place = path.findLastIndex(({ type }) => type === 'user')
    }
    if (bringsMessage) {
      const next = path.findIndex(({ type }, i) => i > place && type === 'user')
      if (next === -1) return
      place = next - 1
    }
    end = path[place]?.key ?? null
  }

  const ended = (how: Pick<EndItem, 'how' | 'message' | 'code' | 'isWithdrawn'>, common: Omit<Common, 'key'>): void =>
    put({ key: `end:${common.seq}`, type: 'end', ...how, ...common })

  /** A run has ended: what it left unfinished stays so. */
  function endOpen(at: number | null): void {
    for (const key of open) {
      change<ToolItem>(key, 'tool', (item) =>
        item.status === 'preparing' || item.status === 'running' ? { ...item, status: 'stopped', endedAt: at } : item,
      )
      change<AnswerItem>(key, 'answer', (item) => (item.isDone ? item : { ...item, isDone: true }))
      change<ReasoningItem>(key, 'reasoning', (item) => (item.isDone ? item : { ...item, isDone: true }))
    }
    open.clear()
  }

  function apply(event: RunEvent, common: Omit<Common, 'key'>): void {
    const { seq, at } = common
    switch (event.type) {
      case 'RUN_STARTED': {
        activeRun = event.runId
        for (const { toolCallId } of questions) {
          // Somebody has answered, or this run asks again at its end.
          change<ToolItem>(`tool:${toolCallId}`, 'tool', (item) => {
            open.add(item.key)
            return item.status === 'waiting' ? { ...item, status: 'running' } : item
          })
        }
        questions = []
        const brought = messagesOf(event.input)
        const { after, triedModel } = ownMetadata(event.metadata)
        tried = typeof triedModel === 'string' ? triedModel : null
        if (typeof after === 'string') {
          branchedBy = event.runId
          branch(after, brought.length > 0)
        }
        for (const message of brought) {
          messages.set(message.id, `user:${message.id}`)
          put({ key: `user:${message.id}`, type: 'user', ...common, runId: event.runId, ...contentOf(message.content) })
        }
        return
      }
      case 'RUN_FINISHED': {
        activeRun = null
        if (event.outcome?.type === 'interrupt') {
          questions = event.outcome.interrupts
          for (const interrupt of event.outcome.interrupts) {
            put({ key: `question:${interrupt.id}`, type: 'question', interrupt, ...common, runId: event.runId })
            if (interrupt.toolCallId !== undefined) {
              change<ToolItem>(`tool:${interrupt.toolCallId}`, 'tool', (item) => ({ ...item, status: 'waiting' }))
            }
          }
        }
        if (event.outcome?.type === 'cancelled') {
          // A message that was withdrawn from the queue left nothing but its end.
          const runOfLast = items.at(-1)?.runId ?? event.runId
          const isWithdrawn = runOfLast !== event.runId && branchedBy !== event.runId
          const message = `Stopped before it ${isWithdrawn ? 'began' : 'was done'}.`
          ended({ how: 'cancelled', message, code: null, isWithdrawn }, { ...common, runId: event.runId })
        }
        endOpen(at)
        return
      }
      case 'RUN_ERROR':
        ended({ how: 'failed', message: event.message, code: event.code ?? null, isWithdrawn: false }, common)
        activeRun = null
        endOpen(at)
        return
      case 'TEXT_MESSAGE_START':
        text(`answer:${event.messageId}`, 'answer', '', common)
        return
      case 'TEXT_MESSAGE_CONTENT':
        text(`answer:${event.messageId}`, 'answer', event.delta, common)
        return
      case 'TEXT_MESSAGE_END':
        change<AnswerItem>(`answer:${event.messageId}`, 'answer', (item) => ({
          ...item,
          isDone: true,
          isBrokenOff: ownMetadata(event.metadata).brokenOff === true,
        }))
        return
      case 'REASONING_MESSAGE_START':
        text(`reasoning:${event.messageId}`, 'reasoning', '', common)
        return
      case 'REASONING_MESSAGE_CONTENT':
        text(`reasoning:${event.messageId}`, 'reasoning', event.delta, common)
        return
      case 'REASONING_MESSAGE_END':
        change<ReasoningItem>(`reasoning:${event.messageId}`, 'reasoning', (item) => ({
          ...item,
          isDone: true,
          endedAt: at,
        }))
        return
      case 'TOOL_CALL_START':
        put(toolItem(event.toolCallId, event.toolCallName, 'preparing', common))
        if (event.parentMessageId !== undefined) messages.set(event.parentMessageId, `tool:${event.toolCallId}`)
        return
      case 'TOOL_CALL_ARGS':
        put(toolItem(event.toolCallId, '', 'preparing', common))
        change<ToolItem>(`tool:${event.toolCallId}`, 'tool', (item) => ({
          ...item,
          args: item.args + event.delta,
        }))
        return
      case 'TOOL_CALL_END':
        change<ToolItem>(`tool:${event.toolCallId}`, 'tool', (item) => ({ ...item, status: 'running' }))
        return
      case 'TOOL_CALL_RESULT':
        put(toolItem(event.toolCallId, '', 'running', common))
        messages.set(event.messageId, `tool:${event.toolCallId}`)
        change<ToolItem>(`tool:${event.toolCallId}`, 'tool', (item) => ({
          ...item,
          result: textOf(event.content),
          status: ownMetadata(event.metadata).status === 'error' ? 'failed' : 'done',
          endedAt: at,
          durationMs: numberOf(ownMetadata(event.metadata).durationMs),
        }))
        return
      case 'SUBAGENT_STARTED':
        put({
          key: `subagent:${event.subagentRunId}`,
          type: 'note',
          name: 'sub-agent',
          text: event.name,
          ...common,
        })
        return
      case 'SUBAGENT_ERROR':
        put({ key: `note:${seq}`, type: 'note', name: 'sub-agent', text: event.message, ...common })
        return
      case 'ACTIVITY_SNAPSHOT': {
        if (event.activityType === 'SOURCES') {
          change<AnswerItem>(`answer:${event.content.messageId}`, 'answer', (item) => ({
            ...item,
            cites: event.content,
          }))
          return
        }
        const key = `activity:${event.messageId}`
        put({ key, type: 'activity', name: event.activityType, content: event.content, ...common })
        change<ActivityItem>(key, 'activity', (item) => ({ ...item, content: event.content }))
        return
      }
      case 'CUSTOM':
        put({ key: `note:${seq}`, type: 'note', name: event.name, text: textOf(event.value), ...common })
        return
      default:
        return
    }
  }

  return {
    add(events: readonly LogEvent[]): void {
      for (const event of events) add(event)
    },
    current(): Transcript {
      if (hasChanged) shown = { items: [...items], forks: new Map(forks), end, activeRun, questions, tried }
      hasChanged = false
      return shown
    },
    save: (): FoldState => ({
      items: [...items],
      forks: new Map(forks),
      end,
      activeRun,
      tried,
      questions,
      open: [...open],
      messages: new Map(messages),
    }),
  }
}

const toolItem = (callId: string, name: string, status: ToolItem['status'], common: Omit<Common, 'key'>): ToolItem => ({
  key: `tool:${callId}`,
  type: 'tool',
  callId,
  name,
  args: '',
  result: null,
  status,
  endedAt: null,
  durationMs: null,
  ...common,
})

/** Our own metadata on an event. AG-UI has no words for what it says. */
export const ownMetadata = (metadata: Record<string, unknown> | undefined): Record<string, unknown> =>
  isRecord(metadata?.quarterdeck) ? metadata.quarterdeck : {}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** The new messages of a user in the input of a run. */
function messagesOf(input: unknown): { id: string; content: unknown }[] {
  if (!isRecord(input) || !Array.isArray(input.messages)) return []
  return input.messages.flatMap((message: unknown) =>
    isRecord(message) && message.role === 'user' && typeof message.id === 'string'
      ? [{ id: message.id, content: message.content }]
      : [],
  )
}

function contentOf(content: unknown): { text: string; files: MessageFile[] } {
  if (typeof content === 'string') return { text: content, files: [] }
  if (!Array.isArray(content)) return { text: textOf(content), files: [] }
  const parts = content.filter(isRecord)
  const text = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : []))
  const files = parts.filter((part) => typeof part.text !== 'string').map(fileOf)
  return { text: text.join('\n'), files }
}

function fileOf(part: Record<string, unknown>): MessageFile {
  const source = isRecord(part.source) ? part.source : part
  const metadata = isRecord(part.metadata) ? part.metadata : {}
  const string = (...values: unknown[]) => values.find((value) => typeof value === 'string' && value !== '')
  return {
    name: String(string(part.filename, part.name, metadata.filename, metadata.name) ?? 'file'),
    mimeType: (string(part.mimeType, source.mimeType, part.mime_type) as string | undefined) ?? null,
    fileId:
      (string(source.type === 'file' ? source.value : null, source.id, part.file_id) as string | undefined) ?? null,
  }
}

/** A result as text: its text parts, or JSON. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content) && content.every((part) => isRecord(part) && typeof part.text === 'string')) {
    return content.map((part) => part.text).join('\n')
  }
  return JSON.stringify(content, null, 2) ?? ''
}
