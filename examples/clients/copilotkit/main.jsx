// CopilotKit's chat with the server as its runtime: chat, stop, a tool that runs in the page, approvals.
//   cd examples/clients/copilotkit && npm install && npm run dev
// Then open the printed address. Add ?url= if the server is not at http://127.0.0.1:8000. Add ?direct to use the AG-UI routes
// instead of the routes for CopilotKit.

import {
  CopilotChat,
  CopilotKitProvider,
  HttpAgent,
  useDefaultRenderTool,
  useFrontendTool,
  useInterrupt,
} from '@copilotkit/react-core/v2'
import '@copilotkit/react-core/v2/styles.css'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'

const query = new URLSearchParams(location.search)
const url = query.get('url') ?? 'http://127.0.0.1:8000'
// The thread is in the address, so that a reload shows it again.
const threadId = query.get('thread') ?? crypto.randomUUID()
query.set('thread', threadId)
history.replaceState(null, '', `?${query}`)

// Approvals are answered as the user of the token. Without a token you can talk, but not decide.
const token = sessionStorage.getItem('token')
const authorization = token ? { Authorization: `Bearer ${token}` } : {}

/** `HttpAgent` cannot show a thread again by itself. A run without messages can: it sends the history, then an answer that is being written. */
class ThreadAgent extends HttpAgent {
  connect(input) {
    return this.run({ ...input, messages: [] })
  }
}

const direct = { url: `${url}/`, threadId, headers: authorization }
const server = query.has('direct')
  ? { agents__unsafe_dev_only: { default: new ThreadAgent(direct) } }
  : { runtimeUrl: `${url}/copilotkit`, useSingleEndpoint: false, headers: authorization }

// Shows the activities of all tools.
const activities = [
  { activityType: '*', content: z.any(), render: ({ content }) => <pre data-activity>{JSON.stringify(content)}</pre> },
]

// CopilotKit's styles remove the borders of buttons.
const button = { border: '1px solid', borderRadius: '0.4rem', padding: '0.1rem 0.6rem' }

function Chat() {
  // A tool that runs here, in the page. The server sends the call, the page sends the result.
  useFrontendTool({
    name: 'set_background',
    description: 'Changes the colour of the page.',
    parameters: z.object({ color: z.string() }),
    handler: async ({ color }) => {
      document.body.style.background = color
      return `The page is ${color} now.`
    },
  })

  // A card for every call of a tool.
  useDefaultRenderTool()

  // A call that waits for approval.
  useInterrupt({
    render: ({ interrupt, resolve }) => (
      <div data-approval={interrupt.id} style={{ whiteSpace: 'pre-line' }}>
        <p>{interrupt.message}</p>
        <button type="button" style={button} onClick={() => resolve({ approved: true })}>
          Approve
        </button>{' '}
        <button type="button" style={button} onClick={() => resolve({ approved: false, reason: 'The user said no.' })}>
          Reject
        </button>
      </div>
    ),
  })

  // `default` is the server's default agent. For another one, put its name here.
  return <CopilotChat agentId="default" threadId={threadId} attachments={{ enabled: true }} />
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

/** The way to the server was lost. The answer goes on there, or at another server if this one has died. */
const isLost = (error) => error instanceof TypeError
const AGAIN_MS = 1_000

/** Why the server refused an answer to an approval, before this page was loaded again. */
const refusal = sessionStorage.getItem('refusal')
sessionStorage.removeItem('refusal')

/**
 * The server has refused an answer with 403, so the approval still waits. CopilotKit takes the answer for given and asks no more, so the
 * page is loaded again: it then shows what waits, and why the answer was refused.
 */
function showRefusal(error) {
  const [, body] = /^HTTP 403: (\{.*\})$/s.exec(error.message) ?? []
  if (body === undefined) return
  sessionStorage.setItem('refusal', JSON.parse(body).message)
  location.reload()
}

function App() {
  const [problem, setProblem] = useState(refusal)
  const [connection, setConnection] = useState(0)
  const failed = ({ error }) => {
    setProblem(error.message)
    showRefusal(error)
    if (!isLost(error)) return
    setTimeout(() => {
      setProblem(null)
      // A new chat connects to the thread: it shows all of it, and continues an answer that is being written.
      setConnection((before) => before + 1)
    }, AGAIN_MS)
  }
  return (
    <CopilotKitProvider {...server} renderActivityMessages={activities} onError={failed}>
      <Token />
      {problem && <p role="alert">{problem}</p>}
      <Chat key={connection} />
    </CopilotKitProvider>
  )
}

createRoot(document.getElementById('root')).render(<App />)
