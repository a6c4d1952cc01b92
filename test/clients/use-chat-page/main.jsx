// A chat with `useChat` as its guide shows it. The page keeps its messages in the tab, as an app keeps them in its database.

import { useChat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai'
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

const query = new URLSearchParams(location.search)
const id = query.get('thread')
const token = sessionStorage.getItem('token')
const transport = new DefaultChatTransport({
  api: `${query.get('url')}/ai/chat`,
  headers: token ? { Authorization: `Bearer ${token}` } : {},
})

function Chat() {
  const [text, setText] = useState('')
  const chat = useChat({
    id,
    transport,
    resume: true,
    messages: JSON.parse(sessionStorage.getItem(id) ?? '[]'),
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(state) || lastAssistantMessageIsCompleteWithToolCalls(state),
    onToolCall({ toolCall: { toolName, toolCallId, input } }) {
      if (toolName !== 'set_background') return
      document.body.style.background = input.color
      chat.addToolOutput({ tool: toolName, toolCallId, output: { painted: input.color } })
    },
  })
  const { messages, status, error } = chat
  useEffect(() => sessionStorage.setItem(id, JSON.stringify(messages)), [messages])
  const send = (event) => {
    event.preventDefault()
    chat.sendMessage({ text })
    setText('')
  }
  return (
    <>
      {messages.map((message) => (
        <section key={message.id} data-role={message.role}>
          <strong>{message.role === 'user' ? 'You' : 'Clerk'}</strong>
          {message.parts.map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are added at the end only
            <Part key={index} part={part} answer={chat.addToolApprovalResponse} />
          ))}
          {message.role === 'user' && (
            <button type="button" onClick={() => chat.sendMessage({ text: 'better question', messageId: message.id })}>
              Ask better
            </button>
          )}
        </section>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit">Send</button>
        <button type="button" onClick={chat.stop} disabled={status !== 'streaming'}>
          Stop
        </button>
        <button type="button" onClick={() => chat.regenerate()} disabled={status !== 'ready'}>
          Again
        </button>
        <output>{status}</output>
      </form>
    </>
  )
}

function Part({ part, answer }) {
  if (part.type === 'text') return <p>{part.text}</p>
  if (part.type === 'data-activity') return <p data-activity={part.data.type}>{JSON.stringify(part.data.content)}</p>
  if (!isToolUIPart(part)) return null
  const { type, state, input, output, approval } = part
  return (
    <div data-tool={type} data-state={state} style={{ border: '1px solid', padding: '0.5rem' }}>
      <code>
        {type} {state} {JSON.stringify(output ?? input)}
      </code>
      {state === 'approval-requested' && (
        <div data-approval={approval.id}>
          <p>{approval.requestReason}</p>
          <button type="button" onClick={() => answer({ id: approval.id, approved: true })}>
            Approve
          </button>
          <button type="button" onClick={() => answer({ id: approval.id, approved: false })}>
            Reject
          </button>
        </div>
      )}
    </div>
  )
}

createRoot(document.getElementById('root')).render(<Chat />)
