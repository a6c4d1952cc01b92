// CopilotKit's chat in front of the server, with no runtime process in between.
//   cd examples/clients/copilotkit && npm install && npm run dev
// then open the address that it prints, with ?url= where the server is not at http://127.0.0.1:8000.

import { CopilotChat, CopilotKitProvider } from '@copilotkit/react-core/v2'
import '@copilotkit/react-core/v2/styles.css'
import { createRoot } from 'react-dom/client'

const query = new URLSearchParams(location.search)
const url = query.get('url') ?? 'http://127.0.0.1:8000'
// The thread is in the address, so that a reload shows it again.
const threadId = query.get('thread') ?? crypto.randomUUID()
query.set('thread', threadId)
history.replaceState(null, '', `?${query}`)

createRoot(document.getElementById('root')).render(
  <CopilotKitProvider runtimeUrl={`${url}/copilotkit`} useSingleEndpoint={false}>
    {/* `default` is the server's default agent; any other is named here. */}
    <CopilotChat agentId="default" threadId={threadId} />
  </CopilotKitProvider>,
)
