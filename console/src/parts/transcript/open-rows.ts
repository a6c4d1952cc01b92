import { createContext, useContext, useState } from 'react'

/** Which rows a person has opened. It outlives the rows, which leave the page when they are scrolled out of sight. */
export const OpenRowsContext = createContext<Map<string, boolean>>(new Map())

export function useIsOpen(key: string, atFirst = false): [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const rows = useContext(OpenRowsContext)
  const [isOpen, setOpen] = useState(() => rows.get(key) ?? atFirst)
  return [
    isOpen,
    (next) => {
      rows.set(key, next)
      setOpen(next)
    },
  ]
}
