// The chat of examples/next-copilotkit on a page of its own: its server is elsewhere, and its user has a token.

import { HttpAgent } from '@copilotkit/react-core/v2'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { AgentChat } from '../../../examples/next-copilotkit/chat.jsx'

const query = new URLSearchParams(location.search)
const url = query.get('url')
const token = sessionStorage.getItem('token')
const headers = token ? { Authorization: `Bearer ${token}` } : {}

/** `HttpAgent` cannot show a thread again by itself. A run without messages can: it sends the history, then an answer that is being written. */
class ThreadAgent extends HttpAgent {
  connect(input) {
    return this.run({ ...input, messages: [] })
  }
}

// With `direct` in the address: the AG-UI routes instead of those for CopilotKit.
const server = query.has('direct')
  ? {
      agents__unsafe_dev_only: { default: new ThreadAgent({ url: `${url}/`, threadId: query.get('thread'), headers }) },
    }
  : { runtimeUrl: `${url}/copilotkit`, useSingleEndpoint: false, headers }

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
    <AgentChat server={server} />
  </>,
)
