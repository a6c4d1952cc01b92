import { Dialog } from '../parts/Dialog.tsx'
import { keyText, useKeyRegistry } from './Keys.tsx'
import styles from './KeysHelp.module.css'

/** All keys that work on this page, and the switch for single letters. */
export default function KeysHelp({ onClose }: { onClose: () => void }) {
  const { all, areLettersOn, setLettersOn } = useKeyRegistry()
  const actions = all().filter(({ keys }) => keys !== '')
  const groups = [...new Set(actions.map(({ group }) => group))]
  return (
    <Dialog title="Keys" onClose={onClose} width="wide">
      <div className={styles.groups}>
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl className={styles.list}>
              {actions
                .filter((action) => action.group === group)
                .map(({ keys, name }) => (
                  <div key={keys} className={styles.row}>
                    <dt>{name}</dt>
                    <dd>
                      {keyText(keys)
                        .split(' ')
                        .map((key) => (
                          <kbd key={key}>{key}</kbd>
                        ))}
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
      <label className={styles.switch}>
        <input type="checkbox" checked={areLettersOn} onChange={(event) => setLettersOn(event.target.checked)} />
        Single letters are keys
      </label>
    </Dialog>
  )
}
