// Turns the events of a session into a conversation: its messages in order, and whether a run is active or waits for a person.

/**
 * @typedef {'user' | 'assistant' | 'reasoning' | 'tool' | 'note' | 'error'} Kind
 * @typedef {{id: string, kind: Kind, text: string, result: string | null, run: number}} Item
 *   The `text` of a tool is its call. `run` is the number of the run that the item belongs to.
 * @typedef {{changed(item: Item): void, dropped(item: Item): void, cleared(): void, moved(): void}} Listener
 */

/**
 * `changed` is called for a new item or one that has grown, `dropped` for an item of an abandoned branch, `cleared` when everything starts
 * again, `moved` when a run begins or ends.
 * @param {Listener} listener
 */
export function createConversation({ changed, dropped, cleared, moved }) {
  /** @type {Map<string, Item>} */
  const items = new Map()
  let run = null
  let waiting = null
  let notes = 0
  let runs = 0
  /** Ids of items that are no longer shown. */
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
    /** Id of the active run, or null. */
    get run() {
      return run
    },
    /** Id of the run that waits for a person, or null. */
    get waiting() {
      return waiting
    },
    /** @param {{type: string}} event An event of the session's log. Pass each event once. */
    take(event) {
      takes[event.type]?.(event)
    },
    /** Number of runs that have begun. */
    get runs() {
      return runs
    },
    /**
     * After an edit or another answer, a branch is abandoned, and the log does not say so. This drops items that the session no longer
     * shows, from runs before the last of `begun`. A run is abandoned from some message to its end, so items before a shown one stay.
     * @param {{messages: object[], metadata?: object}} snapshot What the session shows, requested when `begun` runs had begun.
     */
    keepShown({ messages, metadata }, begun) {
      const shown = new Set(messages.flatMap(({ id, toolCalls = [] }) => [id, ...toolCalls.map((call) => call.id)]))
      const told = [...items.values()]
      const first = told.findIndex(({ id }) => shown.has(id))
      // Of a long session only the end is shown. Nothing is known about older items.
      const isCut = metadata?.quarterdeck?.truncated > 0
      if (isCut && first === -1) return
      const ends = new Map(told.flatMap(({ id, run }, place) => (shown.has(id) ? [[run, place]] : [])))
      const broken = new Set(told.filter(({ kind }) => isEnd(kind)).map(({ run }) => run))
      let isLeft = false
      for (const [place, item] of told.entries()) {
        if (item.run >= begun) return
        if (isCut && place < first) continue
        // Items that are not stored in the session stay or go with the item before them.
        const isUnfinished = item.kind === 'tool' && item.result === null && broken.has(item.run)
        const isKept = !isEnd(item.kind) && !isUnfinished && item.text !== ''
        if (isKept) isLeft = place > (ends.get(item.run) ?? -1)
        if (!isLeft) continue
        items.delete(item.id)
        left.add(item.id)
        dropped(item)
      }
    },
    /** True if the item was shown and is not any more, for example in an abandoned branch. */
    hasLeft: (id) => left.has(id),
    /** Forgets everything, because the log will be read from its beginning. */
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

/** True for items that say how a run ended. */
const isEnd = (kind) => kind === 'note' || kind === 'error'
