import { render } from 'preact';
import { takeToken } from './address.ts';
import { App } from './app.tsx';

const root = document.getElementById('app');
if (root !== null) render(<App token={takeToken()} />, root);
