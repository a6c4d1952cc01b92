// A conversation as its events tell it: what was said, in order, and whether a run is under way or waits for a person.

/**
 * @typedef {'user' | 'assistant' | 'reasoning' | 'tool' | 'note' | 'error'} Kind
 * @typedef {{id: string, kind: Kind, text: string, result: string | null, run: number}} Item
 *   A tool's `text` is its call; `run` counts the runs up to the one that it came with.
 * @typedef {{changed(item: Item): void, dropped(item: Item): void, cleared(): void, moved(): void}} Listener
 */

/**
 * `changed` is called for what is new or has grown, `dropped` for what stands in a branch that was left, `cleared` when everything
 * begins anew, `moved` when a run begins or ends.
 * @param {Listener} listener
 */
export function createConversation({ changed, dropped, cleared, moved }) {
  /** @type {Map<string, Item>} */
  const items = new Map()
  let run = null
  let waiting = null
  let notes = 0
  let runs = 0
  /** The ids of what is shown no more. */
  const left = new Set()

  function write(id, kind, text, { anew = false } = {}) {
    const item = items.get(id) ?? { id, kind, text: '', result: null, run: runs }
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
      runs += 1
      waiting = null
      for (const message of input?.messages ?? []) writeMessage(message)
      moved()
    },
    MESSAGES_SNAPSHOT({ messages }) {
      const before = [...items.keys()]
      clear()
      for (const message of messages) writeMessage(message)
      for (const id of before) if (!items.has(id)) left.add(id)
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
    /** How many runs have begun. */
    get runs() {
      return runs
    },
    /**
     * An edit or another answer leaves a branch, and the log does not tell of it. Drops what the runs before the last of `begun` said
     * and the session shows no more. A run is left from some message to its end: what stands before one that is shown stays.
     * @param {{messages: object[], metadata?: object}} snapshot What the session shows. It was asked for when `begun` runs had begun.
     */
    keepShown({ messages, metadata }, begun) {
      const shown = new Set(messages.flatMap(({ id, toolCalls = [] }) => [id, ...toolCalls.map((call) => call.id)]))
      const told = [...items.values()]
      const first = told.findIndex(({ id }) => shown.has(id))
      // A long session shows its end: nothing is known of what is older.
      const isCut = metadata?.quarterdeck?.truncated > 0
      if (isCut && first === -1) return
      const ends = new Map(told.flatMap(({ id, run }, place) => (shown.has(id) ? [[run, place]] : [])))
      const broken = new Set(told.filter(({ kind }) => isEnd(kind)).map(({ run }) => run))
      let isLeft = false
      for (const [place, item] of told.entries()) {
        if (item.run >= begun) return
        if (isCut && place < first) continue
        // What no session keeps goes the way of what stands before it.
        const isUnfinished = item.kind === 'tool' && item.result === null && broken.has(item.run)
        const isKept = !isEnd(item.kind) && !isUnfinished && item.text !== ''
        if (isKept) isLeft = place > (ends.get(item.run) ?? -1)
        if (!isLeft) continue
        items.delete(item.id)
        left.add(item.id)
        dropped(item)
      }
    },
    /** Whether this was shown and is no more, as in a branch that was left. */
    hasLeft: (id) => left.has(id),
    /** Forgets everything; the log is read from its beginning. */
    forget() {
      run = null
      waiting = null
      left.clear()
      clear()
      moved()
    },
  }
}

const plainText = (content) =>
  typeof content === 'string' ? content : content.map((part) => part.text ?? `[${part.type}]`).join('\n')

/** It says how a run ended. */
const isEnd = (kind) => kind === 'note' || kind === 'error'
