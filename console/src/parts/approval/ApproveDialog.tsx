import type { ApproveOptions, ShownApproval } from 'quarterdeck/client'
import { useState } from 'react'
import { keyText, useKeys } from '../../app/Keys.tsx'
import { byteWord } from '../../words.ts'
import { RiskBadge } from '../Badge.tsx'
import { Dialog, DialogButtons } from '../Dialog.tsx'
import { Fact } from '../Page.tsx'
import { VisibleText } from '../VisibleText.tsx'
import styles from './ApproveDialog.module.css'
import { notSeenText } from './looked-at.ts'
import { Notice } from './Notice.tsx'
import { Problem } from './Problem.tsx'
import { RememberFields } from './RememberFields.tsx'
import { firstOffer, ONCE, rememberedAs } from './remember-choice.ts'
import type { DecisionDialogProps } from './use-decide.ts'

interface ApproveDialogProps extends DecisionDialogProps {
  /** Why a yes is not possible now. */
  lock: string | null
  /** It was opened to choose what is remembered. */
  wantsRemember: boolean
}

/** The last look before a yes: what exactly, and what it counts for. */
export default function ApproveDialog(props: ApproveDialogProps) {
  const { approval, action, lookedAt, decide, lock, wantsRemember, onClose } = props
  const mayRemember = approval.view.remember?.yes === true
  const [choice, setChoice] = useState(wantsRemember && mayRemember ? firstOffer(approval) : ONCE)
  const [force, setForce] = useState(false)
  const notSeen = notSeenText(lookedAt)

  async function approve(): Promise<void> {
    if (decide.isBusy || lock !== null) return
    const options: ApproveOptions = {
      looked_at: lookedAt,
      ...rememberedAs(choice, approval),
      ...(force ? { force } : {}),
    }
    if (await decide.approve(options)) onClose()
  }
  useKeys([{ keys: 'mod+Enter', name: action.label, group: 'Decision', run: () => void approve(), isGlobal: true }])

  return (
    <Dialog
      title={action.confirm.title}
      onClose={onClose}
      actions={
        <DialogButtons
          onCancel={onClose}
          hint={keyText('mod+Enter')}
          isBusy={decide.isBusy}
          disabled={lock !== null}
          onClick={() => void approve()}
        >
          {choice.scope === null ? action.label : `${action.label} and remember`}
        </DialogButtons>
      }
    >
      <WhatRuns approval={approval} asked={action.confirm.title} />
      {notSeen !== null && <Notice tone="warn">{notSeen}</Notice>}
      {approval.kind === 'diff' && (
        <label className={styles.check}>
          <input type="checkbox" checked={force} onChange={({ target }) => setForce(target.checked)} />
          Also if the file has changed meanwhile
        </label>
      )}
      {mayRemember ? (
        <RememberFields
          approval={approval}
          choice={choice}
          onChange={setChoice}
          effect="allow"
          hasFocus={wantsRemember}
        />
      ) : (
        <p className={styles.note}>{approval.kind === 'policy' ? action.confirm.help : 'It counts once.'}</p>
      )}
      {lock !== null && <p className={styles.note}>{lock}</p>}
      <Problem error={decide.problem} />
    </Dialog>
  )
}

/** More than this, and the dialog would hide the buttons: the page behind it has all of it. */
const MOST_HERE = 1_500

/** The call in short, or all of it if it is short. */
function WhatRuns({ approval, asked }: { approval: ShownApproval; asked: string }) {
  const { view, shown, change, action, title, risk, tool } = approval
  const size = shown.arguments.reduce((sum, { text }) => sum + text.length, 0)
  const bytes = shown.arguments.reduce((sum, one) => sum + one.bytes, 0)
  return (
    <div className={styles.what}>
      {asked !== `${action}?` && (
        <p className={styles.action}>
          <VisibleText text={change === null ? (action ?? title) : view.title} inline />
        </p>
      )}
      <p className={styles.facts}>
        <RiskBadge risk={risk} />
        {change === null && !(action ?? title).includes(tool) && <code>{tool}</code>}
      </p>
      {change === null && size > 0 && size <= MOST_HERE && (
        <dl className={styles.arguments}>
          {shown.arguments.map(({ name, text }) => (
            <Fact key={name} name={<VisibleText text={name} inline />}>
              <VisibleText text={text} />
            </Fact>
          ))}
        </dl>
      )}
      {change === null && size > MOST_HERE && (
        <p className={styles.note}>
          With {shown.arguments.length} arguments of {byteWord(bytes)}, as the page behind this shows them.
        </p>
      )}
    </div>
  )
}
