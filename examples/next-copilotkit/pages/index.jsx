import dynamic from 'next/dynamic'

// In the browser only: the thread is in the address of the page.
const AgentChat = dynamic(() => import('../chat.jsx').then((module) => module.AgentChat), { ssr: false })

const server = { runtimeUrl: '/api/agent/copilotkit', useSingleEndpoint: false }

export default function Home() {
  return (
    <main style={{ height: '100vh' }}>
      <AgentChat server={server} />
    </main>
  )
}
