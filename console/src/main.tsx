import './styles/tokens.css'
import './styles/base.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/App.tsx'
import { beginTheme } from './app/theme.ts'
import { keepIcon } from './base.ts'
import { beginSignIn } from './sign-in/device-token.ts'

keepIcon()
beginTheme()
void beginSignIn()
const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
