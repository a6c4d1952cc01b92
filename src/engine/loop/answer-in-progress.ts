// A model's answer while it arrives. Each part becomes events at once, and is kept for the messages that are stored at the end.
// What is kept is what was shown, also where the middleware changed it.

import type { Ids } from '../../domain/ids.ts'
import { type Citations, citationsIn, SOURCES, shownSource } from '../../domain/session/source.ts'
import { unreachable } from '../../domain/unreachable.ts'
import type { FinishReason, ModelPart, ModelUsage } from '../../models/model.ts'
import { BROKEN_OFF, type EventWriter } from '../run/run-writer.ts'

export type AnswerInProgress = ReturnType<typeof createAnswerInProgress>

interface Thought {
  id: string
  text: string
  /** The provider's proof that the model thought this. */
  signature?: string
}

export interface WrittenCall {
  id: string
  name: string
  /** As the model wrote them. The tool gets these. */
  args: string
  /** As they were shown. These are stored. */
  shownArgs: string
  signature: string | undefined
  /** False: the middleware filtered the call out. It leaves no events and never runs. */
  isShown: boolean
}

/** `name` is shown on the message; null for the session's own agent. */
export function createAnswerInProgress(writer: EventWriter, ids: Ids, name: string | null) {
  const messageId = ids.uuid()
  // The protocol allows either an open text or an open thought.
  const text = createText(writer, messageId, name, () => thoughts.close())
  const thoughts = createThoughts(writer, ids, () => text.close())
  const calls = createCalls(writer, ids, messageId)

  /** Ends the open text or thought. */
  function close(): void {
    thoughts.close()
    text.close()
  }

  const answer = {
    /** Id of the message that holds the text and the calls. */
    messageId,
    thoughts: thoughts.all,
    calls: calls.all,
    text: text.read,
    isSpeaking: text.isOpen,
    /** What the text cites, as it was shown. Null: nothing. */
    citations: text.citations,
    /** Ends the open text, and shows what it cites. */
    cite: text.cite,
    close,
    /** Both are null until the model says so. */
    usage: null as ModelUsage | null,
    finish: null as FinishReason | null,
    /** Parts that came in one read have the same time of arrival. */
    take(part: ModelPart, arrived: number) {
      switch (part.type) {
        case 'text':
          return text.add(part.delta, arrived)
        case 'reasoning':
          return thoughts.add(part.delta)
        case 'reasoning_signature':
          return thoughts.sign(part.signature)
        case 'tool_call_start':
          close()
          return calls.start(part.id, part.name, part.signature)
        case 'tool_call_args':
          return calls.addArguments(part.id, part.delta)
        case 'tool_call_end':
          return calls.end(part.id)
        case 'usage':
          answer.usage = part.usage
          return
        case 'finish':
          answer.finish = part.reason
          return
        default:
          unreachable(part)
      }
    },
  }
  return answer
}

/** In tokens. */
const JOINED_AT_ONCE = 32

function createText(writer: EventWriter, messageId: string, name: string | null, beforeOpening: () => void) {
  let joined = ''
  let newest: string[] = []
  let isOpen = false
  let shown: Citations | null = null

  /** Joins in groups: a string that grows token by token takes five times the memory until it is stored. */
  function read(): string {
    joined += newest.join('')
    newest = []
    return joined
  }

  return {
    read,
    add(delta: string, timestamp: number): void {
      if (delta === '') return
      if (!isOpen) {
        beforeOpening()
        isOpen = true
        const shownName = name === null ? {} : { name }
        writer.emit({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...shownName, timestamp })
      }
      newest.push(writer.emitText(messageId, delta, timestamp))
      if (newest.length >= JOINED_AT_ONCE) read()
    },
    isOpen: (): boolean => isOpen,
    citations: (): Citations | null => shown,
    cite(citations: Citations, isBroken: boolean): void {
      isOpen = false
      const metadata = { quarterdeck: { ...(isBroken ? BROKEN_OFF.quarterdeck : {}), citations } }
      const end = writer.emit({ type: 'TEXT_MESSAGE_END', messageId, metadata, timestamp: writer.timestamp() })
      shown = citationsIn(end?.metadata)
      if (shown === null) return
      const { sources, notFound } = shown
      writer.emit({
        type: 'ACTIVITY_SNAPSHOT',
        messageId: `${messageId}_sources`,
        activityType: SOURCES,
        content: { messageId, sources: sources.map(shownSource), not_found: notFound },
        timestamp: writer.timestamp(),
      })
    },
    close(): void {
      if (!isOpen) return
      isOpen = false
      writer.emit({ type: 'TEXT_MESSAGE_END', messageId, timestamp: writer.timestamp() })
    },
  }
}

function createThoughts(writer: EventWriter, ids: Ids, beforeOpening: () => void) {
  const all: Thought[] = []
  let open: Thought | null = null

  function begin(): Thought {
    beforeOpening()
    const thought = { id: ids.uuid(), text: '' }
    const timestamp = writer.timestamp()
    all.push(thought)
    writer.emit({ type: 'REASONING_START', messageId: thought.id, timestamp })
    writer.emit({ type: 'REASONING_MESSAGE_START', messageId: thought.id, role: 'reasoning', timestamp })
    return thought
  }

  function close(): void {
    if (open === null) return
    const timestamp = writer.timestamp()
    writer.emit({ type: 'REASONING_MESSAGE_END', messageId: open.id, timestamp })
    writer.emit({ type: 'REASONING_END', messageId: open.id, timestamp })
    open = null
  }

  return {
    all,
    close,
    add(delta: string): void {
      open ??= begin()
      if (delta === '') return
      const timestamp = writer.timestamp()
      const shown = writer.emit({ type: 'REASONING_MESSAGE_CONTENT', messageId: open.id, delta, timestamp })
      open.text += shown?.delta ?? ''
    },
    sign(signature: string): void {
      let thought = all.at(-1)
      // A model may prove that it thought without showing its thoughts.
      if (thought === undefined || thought.signature !== undefined) {
        open ??= begin()
        thought = open
      }
      thought.signature = signature
      close()
      writer.emit({
        type: 'REASONING_ENCRYPTED_VALUE',
        subtype: 'message',
        entityId: thought.id,
        encryptedValue: signature,
        timestamp: writer.timestamp(),
      })
    },
  }
}

function createCalls(writer: EventWriter, ids: Ids, parentMessageId: string) {
  const all: WrittenCall[] = []
  /** The newest call by the id that the model gave it. */
  const byModelId = new Map<string, WrittenCall>()

  return {
    all,
    start(modelId: string, name: string, signature: string | undefined): void {
      // Some servers number their calls from 0 in every answer. Ours must be unique in the session.
      const id = `call_${ids.uuid()}`
      const timestamp = writer.timestamp()
      const shown = writer.emit({
        type: 'TOOL_CALL_START',
        toolCallId: id,
        toolCallName: name,
        parentMessageId,
        timestamp,
      })
      const call = { id, name, args: '', shownArgs: '', signature, isShown: shown !== null }
      all.push(call)
      byModelId.set(modelId, call)
    },
    addArguments(modelId: string, delta: string): void {
      const call = byModelId.get(modelId)
      if (call === undefined) return
      call.args += delta
      if (!call.isShown || delta === '') return
      const shown = writer.emit({ type: 'TOOL_CALL_ARGS', toolCallId: call.id, delta, timestamp: writer.timestamp() })
      call.shownArgs += shown?.delta ?? ''
    },
    end(modelId: string): void {
      const call = byModelId.get(modelId)
      if (call === undefined || !call.isShown) return
      const timestamp = writer.timestamp()
      writer.emit({ type: 'TOOL_CALL_END', toolCallId: call.id, timestamp })
      if (call.signature === undefined) return
      writer.emit({
        type: 'REASONING_ENCRYPTED_VALUE',
        subtype: 'tool-call',
        entityId: call.id,
        encryptedValue: call.signature,
        timestamp,
      })
    },
  }
}
