import { useState } from 'react'

export default function Home() {
  const [answer, setAnswer] = useState('')

  async function ask() {
    const { createClient } = await import('quarterdeck/client')
    const client = createClient({ url: `${location.origin}/api/agent` })
    setAnswer('')
    for await (const event of client.stream('clerk', 'Hello!')) {
      if (event.type === 'message_delta') setAnswer((text) => text + event.delta)
    }
  }
  return (
    <main>
      <button type="button" onClick={ask}>
        Ask
      </button>
      <p id="answer">{answer}</p>
    </main>
  )
}
