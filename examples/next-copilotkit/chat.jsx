// CopilotKit's chat with an agent of Quarterdeck: chat, stop, files, a tool that runs in the page, approvals.

import {
  CopilotChat,
  CopilotKitProvider,
  useDefaultRenderTool,
  useFrontendTool,
  useInterrupt,
} from '@copilotkit/react-core/v2'
import '@copilotkit/react-core/v2/styles.css'
import { useState } from 'react'
import { z } from 'zod'

/** The thread is in the address, so that a reload shows it again. */
function threadOfAddress() {
  const query = new URLSearchParams(location.search)
  if (!query.has('thread')) query.set('thread', crypto.randomUUID())
  history.replaceState(null, '', `?${query}`)
  return query.get('thread')
}

// Shows what tools report while they work.
const activities = [
  { activityType: '*', content: z.any(), render: ({ content }) => <pre data-activity>{JSON.stringify(content)}</pre> },
]

// CopilotKit's styles remove the borders of buttons.
const button = { border: '1px solid', borderRadius: '0.4rem', padding: '0.1rem 0.6rem' }

function Chat({ threadId }) {
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

/** The way to the server was lost. The answer goes on there, or at another server if this one has died. */
const isLost = (error) => error instanceof TypeError
const AGAIN_MS = 1_000

/** Why the server refused an answer to an approval, before this page was loaded again. */
function takeRefusal() {
  const refusal = sessionStorage.getItem('refusal')
  sessionStorage.removeItem('refusal')
  return refusal
}

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

/** `server` is the part of CopilotKit's settings that says where the agent is. */
export function AgentChat({ server }) {
  const [threadId] = useState(threadOfAddress)
  const [problem, setProblem] = useState(takeRefusal)
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
      {problem && <p role="alert">{problem}</p>}
      <Chat key={connection} threadId={threadId} />
    </CopilotKitProvider>
  )
}
