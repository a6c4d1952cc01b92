import { lazy, useEffect, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { useTitle } from '../../app/title.ts'
import { useAgents } from '../../data/agents.ts'
import { newId } from '../../data/new-id.ts'
import type { Words } from '../../data/outbox.ts'
import { usePlace } from '../../data/place.ts'
import { useOutbox } from '../../data/use-outbox.ts'
import { given } from '../../given.ts'
import { Select } from '../../parts/Field.tsx'
import { AgentIcon } from '../../parts/icons.ts'
import { Pending } from '../../parts/States.tsx'
import { ChatLayout } from './ChatLayout.tsx'
import styles from './ChatPage.module.css'
import { Composer, type ComposerHandle } from './Composer.tsx'
import { TriedNote } from './TriedNote.tsx'

const loadConversation = () => import('./Conversation.tsx')
/** A new chat has nothing to show yet, and needs none of it before its first message. */
const Conversation = lazy(() => loadConversation().then(({ Conversation }) => ({ default: Conversation })))

export default function ChatPage({ id }: { id: string | null }) {
  return id === null ? <NewChat /> : <Conversation id={id} />
}

/** Says who will answer and what one could ask. The session begins with the first message. */
function NewChat() {
  useTitle('Chat')
  const [, go] = useLocation()
  const outbox = useOutbox()
  const agents = useAgents()
  const [params] = useSearchParams()
  const [chosen, setChosen] = useState(params.get('agent'))
  const [tried, setTried] = useState(params.get('model'))
  const composer = useRef<ComposerHandle>(null)
  const all = agents.data ?? []
  useEffect(() => {
    const timer = setTimeout(() => loadConversation().catch(() => {}), 1_000)
    return () => clearTimeout(timer)
  }, [])
  const agent = all.find(({ name }) => name === chosen) ?? all.find(({ is_default }) => is_default) ?? all[0]

  const model = agent?.try_models.find((one) => one === tried) ?? null

  function begin(words: Omit<Words, 'agent'>): void {
    const sessionId = newId()
    outbox.send(sessionId, { ...words, agent: agent?.name ?? null, ...given({ model }) }, { begins: true })
    go(`/chat/${sessionId}`)
  }
  return (
    <ChatLayout
      title="New chat"
      current={null}
      actions={usePlace().ways}
      onFiles={(files) => composer.current?.attach(files)}
      bottom={
        <>
          {model !== null && <TriedNote model={model} onOwn={() => setTried(null)} />}
          <Composer
            ref={composer}
            sessionId={null}
            placeholder={agent === undefined ? 'Message' : `Message ${agent.name}`}
            onSend={begin}
            options={
              all.length > 1 && (
                <div className={styles.choice}>
                  <Select
                    label="Agent"
                    isLabelHidden
                    value={agent?.name}
                    onChange={(event) => setChosen(event.target.value)}
                  >
                    {all.map(({ name }) => (
                      <option key={name}>{name}</option>
                    ))}
                  </Select>
                </div>
              )
            }
          />
        </>
      }
    >
      <div className={styles.middle}>
        {!agents.isSuccess && <Pending query={agents} rows={1} height={180} />}
        {agent !== undefined && (
          <div className={styles.agent}>
            <span className={styles.icon}>
              <AgentIcon aria-hidden="true" />
            </span>
            <h2 dir="auto">{agent.name}</h2>
            {agent.description !== '' && <p dir="auto">{agent.description}</p>}
            {agent.model?.provider === 'demo' && (
              <p className={styles.demo}>A demonstration model answers. It needs no key and no network.</p>
            )}
            {agent.suggestions.length > 0 && (
              <ul className={styles.suggestions} aria-label="Suggestions">
                {agent.suggestions.map((text) => (
                  <li key={text}>
                    <button type="button" dir="auto" onClick={() => begin({ text, files: [] })}>
                      {text}
                    </button>
                  </li>
                ))}
              </ul>
            )}
          </div>
        )}
      </div>
    </ChatLayout>
  )
}
