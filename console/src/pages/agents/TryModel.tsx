import type { Agent } from 'quarterdeck/client'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { Button } from '../../parts/Button.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Dialog } from '../../parts/Dialog.tsx'
import { Options, Select } from '../../parts/Field.tsx'
import { ChatIcon } from '../../parts/icons.ts'
import styles from './AgentPage.module.css'

/** Begins a chat with another model, and shows the lines that would make it the agent's own. Nothing is written. */
export function TryModel({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const [, go] = useLocation()
  const { name, model, try_models: models } = agent
  const [chosen = '', setChosen] = useState(models[0])
  const lines = modelLines(chosen, model?.provider ?? '')
  return (
    <Dialog
      title="Try another model"
      onClose={onClose}
      actions={
        models.length > 0 && (
          <Button
            kind="primary"
            icon={<ChatIcon />}
            onClick={() => go(`/chat?${new URLSearchParams({ agent: name, model: chosen })}`)}
          >
            Begin a chat
          </Button>
        )
      }
    >
      {models.length === 0 ? (
        <p>
          The settings name no other model. Add some to <code>quarterdeck.yaml</code>, and start the server again:{' '}
          <code>try_models: [openai/gpt-5-mini]</code>
        </p>
      ) : (
        <div className={styles.try}>
          <Select label="Model" data-focus="" value={chosen} onChange={({ target }) => setChosen(target.value)}>
            <Options of={models.map((one) => [one, one])} />
          </Select>
          <p>
            It answers in a new chat, with the tools and the approval rules of <bdi>{name}</bdi>. Every run says which
            model was tried, and the agent’s file stays as it is.
          </p>
          <p>To keep it, change these lines of the file:</p>
          <div className={styles.lines}>
            <pre>{lines}</pre>
            <CopyButton text={lines} what="lines" />
          </div>
        </div>
      )}
    </Dialog>
  )
}

/** The lines of an agent file that another model changes. JSON text is YAML too: a name may have any characters. */
export function modelLines(model: string, provider: string): string {
  const [other = ''] = model.split('/')
  const word = (text: string) => (/^[A-Za-z][\w.-]*$/.test(text) ? text : JSON.stringify(text))
  const name = `  name: ${word(model.slice(other.length + 1))}\n`
  return other === provider ? `model:\n${name}` : `model:\n  provider: ${word(other)}\n${name}`
}
