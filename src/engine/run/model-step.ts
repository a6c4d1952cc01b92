// One answer of the model: its parts become events while they arrive, and messages once it is complete.

import type { Ids } from '../../domain/ids.ts'
import type { StoredMessage, ToolCall } from '../../domain/message.ts'
import type { RunRecord } from '../../domain/run.ts'
import { unreachable } from '../../domain/unreachable.ts'
import type { FinishReason, Model, ModelPart, ModelRequest, ModelUsage } from '../../models/model.ts'
import type { Budget } from './budget.ts'
import type { Pen } from './run-writer.ts'

export interface Answer {
  /** The reasoning, if any, and the assistant's message, to be stored. */
  messages: StoredMessage[]
  text: string
  /** Calls to run, in order. */
  calls: ToolCall[]
  /** Calls that the middleware filtered out: they left no events and never run. */
  filtered: ToolCall[]
  usage: ModelUsage | null
  finish: FinishReason
}

/** The parts of an answer that has not ended: what is kept of it when it breaks off. */
export interface AnswerInProgress {
  read(request: ModelRequest, signal: AbortSignal): Promise<Answer>
  /** What there is so far, or all of it, marked as broken off; empty when nothing was said. */
  brokenOff(): StoredMessage[]
  usage(): ModelUsage | null
}

interface PendingCall {
  id: string
  name: string
  /** As the model wrote them: what the tool gets. */
  args: string
  /** As they were shown: what is stored. */
  shownArgs: string
  signature: string | undefined
  shown: boolean
}

export interface ModelStepOptions {
  model: Model
  run: RunRecord
  agentName: string
  /** Put on its messages where another agent than the session's own answers. */
  shownName: string | null
  /** The sub-agent's conversation that its messages belong to. */
  lane: string | null
  writer: Pen
  ids: Ids
  maxStoredChars: number
  /** Is told of everything the model writes. */
  budget: Pick<Budget, 'charactersLeft' | 'wrote'>
}

/** Tokens. */
const JOINED_AT_ONCE = 32

export function createModelStep(options: ModelStepOptions): AnswerInProgress {
  const { model, run, agentName, shownName, lane, writer, ids, maxStoredChars, budget } = options
  const messageId = ids.uuid()
  const calls: PendingCall[] = []
  /** By the model's id: the newest call that has it. */
  const callsById = new Map<string, PendingCall>()
  const thoughts: { id: string; text: string; signature?: string; open: boolean }[] = []
  let text = ''
  let newest: string[] = []
  let textOpen = false
  /** Parts that came in one read have one time. */
  let arrived = writer.timestamp()
  let usage: ModelUsage | null = null
  let finish: FinishReason | null = null

  function endReasoning(): void {
    const thought = thoughts.at(-1)
    if (thought === undefined || !thought.open) return
    thought.open = false
    const timestamp = writer.timestamp()
    writer.emit({ type: 'REASONING_MESSAGE_END', messageId: thought.id, timestamp })
    writer.emit({ type: 'REASONING_END', messageId: thought.id, timestamp })
  }

  function reasoning(delta: string): void {
    endText()
    let thought = thoughts.at(-1)
    const timestamp = writer.timestamp()
    if (thought === undefined || !thought.open) {
      thought = { id: ids.uuid(), text: '', open: true }
      thoughts.push(thought)
      writer.emit({ type: 'REASONING_START', messageId: thought.id, timestamp })
      writer.emit({ type: 'REASONING_MESSAGE_START', messageId: thought.id, role: 'reasoning', timestamp })
    }
    if (delta === '') return
    const shown = writer.emit({ type: 'REASONING_MESSAGE_CONTENT', messageId: thought.id, delta, timestamp })
    thought.text += shown?.delta ?? ''
  }

  function sign(signature: string): void {
    const last = thoughts.at(-1)
    // A model may prove that it thought without showing what.
    if (last === undefined || last.signature !== undefined) reasoning('')
    const thought = thoughts.at(-1)
    if (thought === undefined) return
    thought.signature = signature
    endReasoning()
    const timestamp = writer.timestamp()
    writer.emit({
      type: 'REASONING_ENCRYPTED_VALUE',
      subtype: 'message',
      entityId: thought.id,
      encryptedValue: signature,
      timestamp,
    })
  }

  function say(delta: string): void {
    if (delta === '') return
    if (!textOpen) {
      endReasoning()
      textOpen = true
      const name = shownName === null ? {} : { name: shownName }
      writer.emit({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...name, timestamp: arrived })
    }
    // What is stored is what was shown, also where the middleware changed it.
    newest.push(writer.emitText(messageId, delta, arrived))
    if (newest.length >= JOINED_AT_ONCE) said()
  }

  /** All of the text so far. Put together token by token it would take five times its space until it is stored. */
  function said(): string {
    text += newest.join('')
    newest = []
    return text
  }

  function endText(): void {
    if (!textOpen) return
    textOpen = false
    writer.emit({ type: 'TEXT_MESSAGE_END', messageId, timestamp: writer.timestamp() })
  }

  function take(part: ModelPart): void {
    switch (part.type) {
      case 'text':
        say(part.delta)
        break
      case 'reasoning':
        reasoning(part.delta)
        break
      case 'reasoning_signature':
        sign(part.signature)
        break
      case 'tool_call_start': {
        endReasoning()
        endText()
        // Some servers number calls from 0 in every answer; ours must be unique in the session.
        const call: PendingCall = {
          id: `call_${ids.uuid()}`,
          name: part.name,
          args: '',
          shownArgs: '',
          signature: part.signature,
          shown: false,
        }
        calls.push(call)
        callsById.set(part.id, call)
        const timestamp = writer.timestamp()
        call.shown =
          writer.emit({
            type: 'TOOL_CALL_START',
            toolCallId: call.id,
            toolCallName: call.name,
            parentMessageId: messageId,
            timestamp,
          }) !== null
        return
      }
      case 'tool_call_args': {
        const call = callsById.get(part.id)
        if (call === undefined) return
        call.args += part.delta
        if (call.shown && part.delta !== '') {
          const timestamp = writer.timestamp()
          const shown = writer.emit({ type: 'TOOL_CALL_ARGS', toolCallId: call.id, delta: part.delta, timestamp })
          call.shownArgs += shown?.delta ?? ''
        }
        return
      }
      case 'tool_call_end': {
        const call = callsById.get(part.id)
        if (call === undefined || !call.shown) return
        const timestamp = writer.timestamp()
        writer.emit({ type: 'TOOL_CALL_END', toolCallId: call.id, timestamp })
        if (call.signature !== undefined) {
          writer.emit({
            type: 'REASONING_ENCRYPTED_VALUE',
            subtype: 'tool-call',
            entityId: call.id,
            encryptedValue: call.signature,
            timestamp,
          })
        }
        return
      }
      case 'usage':
        usage = part.usage
        return
      case 'finish':
        finish = part.reason
        return
      default:
        unreachable(part)
    }
  }

  const toToolCall = (call: PendingCall, args = call.args): ToolCall => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: args === '' ? '{}' : args },
    ...(call.signature === undefined ? {} : { encryptedValue: call.signature }),
  })

  function stored(brokenOff: boolean): StoredMessage[] {
    const base = {
      runId: run.id,
      createdAt: writer.timestamp(),
      ...(brokenOff ? { brokenOff } : {}),
      ...(lane === null ? {} : { lane }),
    }
    const messages: StoredMessage[] = thoughts.map((thought) => ({
      id: thought.id,
      role: 'reasoning',
      ...cut(thought.text, maxStoredChars),
      ...base,
      // A provider's proof holds for the whole text only.
      ...(thought.signature === undefined || thought.text.length > maxStoredChars
        ? {}
        : { encryptedValue: thought.signature }),
    }))
    const toolCalls = calls.filter((call) => call.shown).map((call) => toToolCall(call, call.shownArgs))
    if (brokenOff && said() === '' && toolCalls.length === 0) return messages
    messages.push({
      id: messageId,
      role: 'assistant',
      ...cut(said(), maxStoredChars),
      ...base,
      agentName,
      // Arguments that stopped half-way are no call.
      ...(toolCalls.length === 0 || brokenOff ? {} : { toolCalls }),
    })
    return messages
  }

  return {
    async read(request, signal) {
      for await (const parts of model.stream(request, signal)) {
        arrived = writer.timestamp()
        for (const part of parts) {
          const size = charactersOf(part)
          const fitting = size <= budget.charactersLeft ? part : cutPart(part, budget.charactersLeft)
          if (fitting !== null) take(fitting)
          // Behind it, so that what was written stays.
          budget.wrote(size)
        }
        await writer.flush()
      }
      endReasoning()
      endText()
      return {
        messages: stored(false),
        text: said(),
        calls: calls.filter((call) => call.shown).map((call) => toToolCall(call)),
        filtered: calls.filter((call) => !call.shown).map((call) => toToolCall(call)),
        usage,
        finish: finish ?? 'stop',
      }
    },
    brokenOff: () => stored(true),
    usage: () => usage,
  }
}

/** What a call or a proof costs besides its text: a model may send them without end, too. */
const FRAME_CHARACTERS = 100

function charactersOf(part: ModelPart): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'tool_call_args':
      return part.delta.length
    case 'reasoning_signature':
      return part.signature.length + FRAME_CHARACTERS
    case 'tool_call_start':
      return part.name.length + (part.signature?.length ?? 0) + FRAME_CHARACTERS
    case 'tool_call_end':
    case 'usage':
    case 'finish':
      return 0
    default:
      return unreachable(part)
  }
}

/** The beginning of a part; null: it cannot be cut. One part may be as long as a whole event of the wire. */
function cutPart(part: ModelPart, characters: number): ModelPart | null {
  if (part.type !== 'text' && part.type !== 'reasoning' && part.type !== 'tool_call_args') return null
  return { ...part, delta: part.delta.slice(0, characters).toWellFormed() }
}

/** Stored messages have a limit; what is longer is cut and says so. */
function cut(text: string, limit: number): Pick<StoredMessage, 'content' | 'metadata'> {
  if (text.length <= limit) return { content: text }
  return { content: text.slice(0, limit), metadata: { quarterdeck: { cut: text.length - limit } } }
}
