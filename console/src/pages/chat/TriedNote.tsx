import { Button } from '../../parts/Button.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import styles from './Conversation.module.css'

/** Stands above the field for as long as the next message goes to another model than the agent's own. */
export function TriedNote({ model, onOwn }: { model: string; onOwn: () => void }) {
  return (
    <p className={styles.note}>
      Tried with <VisibleText text={model} inline isRaw />. Tools and approvals are the agent’s own, and its file stays
      as it is.{' '}
      <Button kind="quiet" onClick={onOwn}>
        Use its own model
      </Button>
    </p>
  )
}
