import { render } from 'preact';
import { App } from './app.tsx';
import { takeToken } from './linked-request.ts';

const root = document.getElementById('app');
if (root !== null) render(<App token={takeToken()} />, root);
