// What the program of a hosted agent says, as events and messages of the run: the table of CONTRACTS §10. A step is one message of the
// agent with its calls, as in the model loop, so that transcript, timeline and recovery need to know nothing of hosts.

import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { ToolCall } from '../../domain/session/message.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { ProgressItem } from '../../domain/supervision/supervision.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { type AnswerInProgress, createAnswerInProgress } from '../../engine/loop/answer-in-progress.ts'
import { commitResult } from '../../engine/loop/call-records.ts'
import { type Answer, asBrokenOff, messagesOf } from '../../engine/loop/model-step.ts'
import type { HostParts, Lane } from '../../engine/run/run-scope.ts'
import type { AcpWords } from '../../hosts/host.ts'
import { blockText, type HostedCall, hasInput, namedCall, resultText } from './hosted-call.ts'
import type { Talk } from './talk.ts'

interface TellerDeps {
  lane: Lane<HostParts>
  talk: Pick<Talk, 'call' | 'calls' | 'modes' | 'configOptions' | 'title'>
  words: AcpWords
  /** The output of one of our terminals. */
  outputOf(terminal: string): string
  /** Told of the checklist and the last tool, for those who supervise. */
  onProgress(progress: { items?: ProgressItem[]; lastTool?: string }): void
}

export type Teller = ReturnType<typeof createTeller>

export function createTeller({ lane, talk, words, outputOf, onProgress }: TellerDeps) {
  const { scope, writer, budget } = lane
  const { ids, clock } = scope
  const planId = `plan_${scope.run.id}`
  let steps = scope.stepsDone
  let said: AnswerInProgress | null = null
  /** Something of this run is stored already. */
  let isBegun = false

  function open(): AnswerInProgress {
    if (said !== null) return said
    steps += 1
    writer.emit({ type: 'STEP_STARTED', stepName: `step_${steps}`, timestamp: writer.timestamp() })
    said = createAnswerInProgress(writer, ids, null)
    return said
  }

  /** Stores the message that is open, with its calls. */
  async function close(): Promise<void> {
    const ended = ending()
    if (ended !== null) await writer.commit(ended)
  }

  /** The message that is open, with its calls, which ends here. */
  function ending() {
    if (said === null) return null
    const answer = said
    said = null
    isBegun = true
    answer.close()
    const stepName = `step_${steps}`
    writer.emit({ type: 'STEP_FINISHED', stepName, timestamp: writer.timestamp() })
    const fact = {
      fact: 'step_finished' as const,
      run: scope.run.id,
      step: steps,
      usage: scope.usage.total,
      at: writer.timestamp(),
    }
    return { facts: [fact], messages: messagesOf(lane, answer) }
  }

  /** A character of a flood counts against the run's limit as one of a model does. */
  function wrote(kind: 'text' | 'reasoning', text: string): void {
    const delta = text.slice(0, budget.charactersLeft)
    if (delta !== '') open().take({ type: kind, delta }, writer.timestamp())
    budget.wrote(text.length)
  }

  /**
   * Shows a call with all its arguments. Once: what comes later is part of its result, or of the question about it. Returns the call as it
   * is known by now: some programs tell only with their question which tool it is.
   */
  function show(call: HostedCall): ToolCall {
    const named = namedCall(words, call)
    const args = JSON.stringify(named.input)
    if (call.id === null) {
      budget.toolCall(named.tool, args)
      const answer = open()
      answer.take({ type: 'tool_call_start', id: call.acpId, name: named.tool }, writer.timestamp())
      answer.take({ type: 'tool_call_args', id: call.acpId, delta: args }, writer.timestamp())
      answer.take({ type: 'tool_call_end', id: call.acpId }, writer.timestamp())
      call.id = answer.calls.at(-1)?.id ?? ids.uuid()
      call.shownAt = clock.mono()
      budget.wrote(args.length)
      onProgress({ lastTool: named.tool })
    }
    return { id: call.id, type: 'function', function: { name: named.tool, arguments: args } }
  }

  /** Its result, once. `audit`: what the trail gets with it. */
  async function finish(
    call: HostedCall,
    outcome: { content: string; isError: boolean },
    audit?: AuditRecord,
  ): Promise<void> {
    if (call.isOver) return
    const shown = show(call)
    call.isOver = true
    isBegun = true
    const durationMs = Math.max(0, Math.round(clock.mono() - call.shownAt))
    await commitResult(lane, shown, outcome, { ...ending(), durationMs, audit })
  }

  /** Everything that is told is kept, so it counts as what is written. */
  function state(change: Record<string, unknown>): void {
    budget.wrote(JSON.stringify(change).length)
    const now = scope.state.read()
    const whole = typeof now === 'object' && now !== null && !Array.isArray(now) ? (now as Record<string, unknown>) : {}
    const { host } = whole
    const before = typeof host === 'object' && host !== null ? host : {}
    scope.state.replace({ ...whole, host: { ...before, ...change } })
  }

  async function take(update: SessionUpdate): Promise<void> {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return wrote('text', blockText(update.content))
      case 'agent_thought_chunk':
        return wrote('reasoning', blockText(update.content))
      case 'tool_call':
      case 'tool_call_update':
        return takeCall(talk.call(update.toolCallId))
      case 'plan': {
        const entries = update.entries.map(({ content, priority, status }) => ({ content, priority, status }))
        budget.wrote(JSON.stringify(entries).length)
        writer.emit({
          type: 'ACTIVITY_SNAPSHOT',
          messageId: planId,
          activityType: 'PLAN',
          content: { entries },
          timestamp: writer.timestamp(),
        })
        const items = entries.slice(0, MOST_ITEMS).map(({ content, status }) => ({
          label: visibleText(content).slice(0, MOST_LABEL),
          status: status === 'completed' ? ('done' as const) : status,
        }))
        return onProgress({ items })
      }
      case 'current_mode_update':
        return state({ mode: update.currentModeId })
      case 'available_commands_update': {
        const commands = update.availableCommands.map(({ name, description, input }) => ({
          name,
          description,
          hint: input?.hint ?? null,
        }))
        return state({ commands })
      }
      case 'config_option_update':
        return state({ config: update.configOptions })
      case 'usage_update':
        return state({ usage: { used: update.used, size: update.size, cost: update.cost ?? null } })
      default:
        // What else there is, or will be, has no word at our doors. The program does not depend on it.
        return
    }
  }

  async function takeCall(call: HostedCall): Promise<void> {
    const { status } = call.said
    const hasEnded = status === 'completed' || status === 'failed'
    if (call.id === null && (hasInput(call.said) || hasEnded)) show(call)
    if (!hasEnded) return
    const text = resultText(call.said, outputOf)
    const unsaid = status === 'failed' ? 'It failed, and the agent’s program does not say why.' : 'Done.'
    await finish(call, { content: text === '' ? unsaid : text, isError: status === 'failed' })
    scope.inFlight.delete(call.id ?? '')
    // It is in the log. Nothing else needs the texts of whole files.
    call.said = { toolCallId: call.acpId }
  }

  return {
    take,
    show,
    finish,
    close,
    state,
    flush: () => writer.flush(),
    /** What clients can choose from, at the beginning of a run. */
    tellChoices(): void {
      const { modes, configOptions } = talk
      const offered = {
        ...(talk.title === '' ? {} : { name: talk.title }),
        ...(modes === null ? {} : { mode: modes.currentModeId, modes: modes.availableModes }),
        ...(configOptions.length === 0 ? {} : { config: configOptions }),
      }
      if (Object.keys(offered).length > 0) state(offered)
    },
    /** Calls that were shown and have no result: their program says no more of them. */
    async closeCalls(why: string): Promise<void> {
      for (const call of talk.calls.values()) {
        if (call.id !== null && !call.isOver) await finish(call, { content: why, isError: true })
      }
    },
    /** The last message, not stored yet. */
    answer(finish: Answer['finish']): Pick<Answer, 'messages' | 'finish' | 'text'> {
      // It ended with a call: its messages are stored already.
      if (said === null && isBegun) return { messages: [], finish, text: '' }
      const answer = open()
      said = null
      answer.close()
      writer.emit({ type: 'STEP_FINISHED', stepName: `step_${steps}`, timestamp: writer.timestamp() })
      return { messages: messagesOf(lane, answer), finish, text: answer.text() }
    },
    /** What there is of the message that is open, for a run that ends here. */
    broken(): ReturnType<typeof asBrokenOff> {
      if (said === null) return []
      const answer = said
      said = null
      answer.close()
      return asBrokenOff(messagesOf(lane, answer))
    },
  }
}

/** As many as a heartbeat may bring. */
const MOST_ITEMS = 100
const MOST_LABEL = 200
