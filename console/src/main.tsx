import './styles/tokens.css'
import './styles/base.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/App.tsx'
import { applyTheme } from './app/theme.ts'

applyTheme()
const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
