// assistant-ui with the server's AG-UI routes: chat, stop, edit, files, a tool that runs in the page, approvals.
//   cd examples/clients/assistant-ui && npm install && npm run dev
// Then open the printed address. Add ?url= if the server is not at http://127.0.0.1:8000.

import { HttpAgent } from '@ag-ui/client'
import {
  ActionBarPrimitive,
  AssistantRuntimeProvider,
  AttachmentPrimitive,
  AuiConfig,
  ComposerPrimitive,
  ErrorPrimitive,
  MessagePrimitive,
  SimpleImageAttachmentAdapter,
  ThreadPrimitive,
  Tools,
} from '@assistant-ui/react'
import {
  useAgUiInterrupts,
  useAgUiRuntime,
  useAgUiSteerAway,
  useAgUiSubmitInterruptResponses,
} from '@assistant-ui/react-ag-ui'
import { useEffect, useRef, useState } from 'react'
import { createRoot } from 'react-dom/client'

const query = new URLSearchParams(location.search)
const url = query.get('url') ?? 'http://127.0.0.1:8000'
// The thread is in the address, so that a reload shows it again.
function keepThread(threadId) {
  query.set('thread', threadId)
  history.replaceState(null, '', `?${query}`)
  return threadId
}
const threadId = keepThread(query.get('thread') ?? crypto.randomUUID())

// Approvals are answered as the user of the token. Without a token you can talk, but not decide.
const token = sessionStorage.getItem('token')
const authorization = token ? { Authorization: `Bearer ${token}` } : {}

/**
 * assistant-ui sends the messages before an edited one, and the server sees from them where the conversation branches. Before the first
 * message there are none, so to the server an edited first message is the next message. It begins a thread of its own instead.
 */
class ThreadAgent extends HttpAgent {
  #firstId

  constructor(config) {
    super(config)
    this.subscribe({
      onMessagesSnapshotEvent: ({ event }) => {
        this.#firstId ??= event.messages[0]?.id
      },
    })
  }

  run(input) {
    const [first, ...others] = input.messages
    const isEdited = first !== undefined && others.length === 0 && (this.#firstId ?? first.id) !== first.id
    if (isEdited) this.threadId = keepThread(crypto.randomUUID())
    this.#firstId = first?.id ?? this.#firstId
    return super.run({ ...input, threadId: this.threadId })
  }
}

const agent = new ThreadAgent({ url: `${url}/`, threadId, headers: authorization })
const attachments = new SimpleImageAttachmentAdapter()

// A tool that runs here, in the page. The server sends the call, the page sends the result.
const toolkit = {
  set_background: {
    description: 'Changes the colour of the page.',
    parameters: { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] },
    execute: async ({ color }) => {
      document.body.style.background = color
      return `The page is ${color} now.`
    },
  },
}
const config = AuiConfig({ tools: Tools({ toolkit }) })

/** The way to the server was lost. The answer goes on there, or at another server if this one has died. */
const isLost = (error) => error instanceof TypeError
const AGAIN_MS = 1_000

/** Why the server refused an answer to an approval, before this page was loaded again. */
const refusal = sessionStorage.getItem('refusal')
sessionStorage.removeItem('refusal')

/**
 * The server has refused an answer with 403, so the approval still waits. assistant-ui takes the answer for given and asks no more, so the
 * page is loaded again: it then shows what waits, and why the answer was refused.
 */
function showRefusal(error) {
  const [, body] = /^HTTP 403: (\{.*\})$/s.exec(error.message) ?? []
  if (body === undefined) return
  sessionStorage.setItem('refusal', JSON.parse(body).message)
  location.reload()
}

function Chat() {
  const connect = useRef(() => {})
  const onError = (error) => {
    showRefusal(error)
    if (isLost(error)) setTimeout(() => connect.current(), AGAIN_MS)
  }
  const runtime = useAgUiRuntime({ agent, adapters: { attachments }, onError })
  // A run without a message shows the thread, and continues an answer that is being written.
  useEffect(() => {
    connect.current = () => runtime.thread.startRun({ parentId: null })
    connect.current()
  }, [runtime])

  return (
    <AssistantRuntimeProvider runtime={runtime} config={config}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages components={{ UserMessage, EditComposer, AssistantMessage }} />
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Attachments>
            {() => (
              <AttachmentPrimitive.Root>
                <AttachmentPrimitive.Name />
              </AttachmentPrimitive.Root>
            )}
          </ComposerPrimitive.Attachments>
          <ComposerPrimitive.AddAttachment>Attach</ComposerPrimitive.AddAttachment>
          <ComposerPrimitive.Input aria-label="Message" />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
          <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
        </ComposerPrimitive.Root>
        {refusal && <p role="alert">{refusal}</p>}
        <Approvals />
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  )
}

const UserMessage = () => (
  <MessagePrimitive.Root data-role="user">
    <MessagePrimitive.Attachments>
      {({ attachment }) => <Picture attachment={attachment} />}
    </MessagePrimitive.Attachments>
    <MessagePrimitive.Parts />
    <ActionBarPrimitive.Edit>Edit</ActionBarPrimitive.Edit>
  </MessagePrimitive.Root>
)

const EditComposer = () => (
  <ComposerPrimitive.Root>
    <ComposerPrimitive.Input aria-label="Edited message" />
    <ComposerPrimitive.Send>Save</ComposerPrimitive.Send>
    <ComposerPrimitive.Cancel>Leave as it was</ComposerPrimitive.Cancel>
  </ComposerPrimitive.Root>
)

const AssistantMessage = () => (
  <MessagePrimitive.Root data-role="assistant">
    <MessagePrimitive.Parts components={{ tools: { Fallback: ToolCall } }} />
    <MessagePrimitive.Error>
      <ErrorPrimitive.Root role="alert">
        <ErrorPrimitive.Message />
      </ErrorPrimitive.Root>
    </MessagePrimitive.Error>
  </MessagePrimitive.Root>
)

function Picture({ attachment }) {
  const image = attachment.content?.find(({ type }) => type === 'image')
  return image ? <img src={image.image} alt={attachment.name} /> : <span>{attachment.name}</span>
}

const ToolCall = ({ toolName, argsText, result }) => (
  <div data-tool={toolName}>
    {toolName} {argsText}
    {result !== undefined && <p>{typeof result === 'string' ? result : JSON.stringify(result)}</p>}
  </div>
)

/** The calls that wait for approval. assistant-ui sends all answers together, and accepts no other message until then. */
function Approvals() {
  const interrupts = useAgUiInterrupts()
  const submit = useAgUiSubmitInterruptResponses()
  const steerAway = useAgUiSteerAway()
  const [answers, setAnswers] = useState({})
  if (interrupts.length === 0) return null

  const answer = (interruptId, payload) => {
    const all = { ...answers, [interruptId]: { interruptId, status: 'resolved', payload } }
    setAnswers(all)
    if (interrupts.every(({ id }) => all[id])) submit(interrupts.map(({ id }) => all[id]))
  }
  const sayInstead = (event) => {
    event.preventDefault()
    steerAway(event.target.elements.text.value)
  }
  return (
    <>
      {interrupts.map(({ id, message }) => (
        <div key={id} data-approval={id}>
          <p>{message}</p>
          <button type="button" onClick={() => answer(id, { approved: true })}>
            Approve
          </button>{' '}
          <button type="button" onClick={() => answer(id, { approved: false, reason: 'The user said no.' })}>
            Reject
          </button>
        </div>
      ))}
      <form onSubmit={sayInstead}>
        <input name="text" aria-label="Something else" />
        <button type="submit">Reject, and say this instead</button>
      </form>
    </>
  )
}

function Token() {
  const [text, setText] = useState(token ?? '')
  const keep = (event) => {
    event.preventDefault()
    sessionStorage.setItem('token', text)
    location.reload()
  }
  return (
    <form onSubmit={keep}>
      <input type="password" aria-label="Token" value={text} onChange={(event) => setText(event.target.value)} />
      <button type="submit">Use this token</button>
    </form>
  )
}

createRoot(document.getElementById('root')).render(
  <>
    <Token />
    <Chat />
  </>,
)
