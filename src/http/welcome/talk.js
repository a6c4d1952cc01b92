// A conversation as its events tell it: what was said, in order, and whether a run is under way or waits for a person.

/**
 * @typedef {'user' | 'assistant' | 'reasoning' | 'tool' | 'note' | 'error'} Kind
 * @typedef {{id: string, kind: Kind, text: string, result: string | null}} Item A tool's `text` is its call.
 * @typedef {{changed(item: Item): void, cleared(): void, moved(): void}} Listener
 */

/**
 * `changed` is called for what is new or has grown, `cleared` when everything begins anew, `moved` when a run begins or ends.
 * @param {Listener} listener
 */
export function createTalk({ changed, cleared, moved }) {
  /** @type {Map<string, Item>} */
  const items = new Map()
  let run = null
  let waiting = null
  let notes = 0

  function write(id, kind, text, { anew = false } = {}) {
    const item = items.get(id) ?? { id, kind, text: '', result: null }
    items.set(id, item)
    item.text = anew ? text : item.text + text
    changed(item)
  }

  function writeResult(callId, content) {
    const item = items.get(callId)
    if (item === undefined) return
    item.result = plainText(content)
    changed(item)
  }

  function note(kind, text) {
    notes += 1
    write(`${kind} ${notes}`, kind, text)
  }

  function writeMessage({ id, role, content = '', toolCalls = [], toolCallId }) {
    if (role === 'tool') writeResult(toolCallId, content)
    else if (['user', 'assistant', 'reasoning'].includes(role) && content.length > 0) {
      write(id, role, plainText(content), { anew: true })
    }
    for (const { id: callId, function: made } of toolCalls) {
      write(callId, 'tool', `${made.name} ${made.arguments}`, { anew: true })
    }
  }

  function clear() {
    items.clear()
    cleared()
  }

  function end(waits) {
    waiting = waits ? run : null
    run = null
    moved()
  }

  const takes = {
    RUN_STARTED({ runId, input }) {
      run = runId
      waiting = null
      for (const message of input?.messages ?? []) writeMessage(message)
      moved()
    },
    MESSAGES_SNAPSHOT({ messages }) {
      clear()
      for (const message of messages) writeMessage(message)
    },
    TEXT_MESSAGE_START: ({ messageId }) => write(messageId, 'assistant', '', { anew: true }),
    TEXT_MESSAGE_CONTENT: ({ messageId, delta }) => write(messageId, 'assistant', delta),
    REASONING_MESSAGE_START: ({ messageId }) => write(messageId, 'reasoning', '', { anew: true }),
    REASONING_MESSAGE_CONTENT: ({ messageId, delta }) => write(messageId, 'reasoning', delta),
    TOOL_CALL_START: ({ toolCallId, toolCallName }) => write(toolCallId, 'tool', `${toolCallName} `, { anew: true }),
    TOOL_CALL_ARGS: ({ toolCallId, delta }) => write(toolCallId, 'tool', delta),
    TOOL_CALL_RESULT: ({ toolCallId, content }) => writeResult(toolCallId, content),
    RUN_ERROR({ message }) {
      note('error', message)
      end(false)
    },
    RUN_FINISHED({ outcome }) {
      if (outcome?.type === 'cancelled') note('note', 'Stopped.')
      end(outcome?.type === 'interrupt')
    },
  }

  return {
    /** @type {ReadonlyMap<string, Item>} */
    items,
    /** The id of the run that is under way; null: none. */
    get run() {
      return run
    },
    /** The id of the run that waits for a person; null: none. */
    get waiting() {
      return waiting
    },
    /** @param {{type: string}} event An event of the session's log; it is told once. */
    take(event) {
      takes[event.type]?.(event)
    },
    note,
    /** Forgets everything; the log is read from its beginning. */
    forget() {
      run = null
      waiting = null
      clear()
      moved()
    },
  }
}

const plainText = (content) =>
  typeof content === 'string' ? content : content.map((part) => part.text ?? `[${part.type}]`).join('\n')
